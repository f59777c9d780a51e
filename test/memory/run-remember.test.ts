// `run.remember`: an item of memory and its entry on the tape are one commit.

import { describe, expect, test } from 'vitest'
import type { Run } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

describe.each(engines)('run.remember on $name', ({ open }) => {
  test('a run remembers once: a replay answers from the tape, and the item is committed with its entry', async () => {
    const store = await open()
    const session = await store.session('s')
    const program = async (run: Run) => {
      const first = await run.remember('Ada  prefers metric units', { about: 'user/ada', tags: ['units'] })
      const refused = await codeOf(run.remember('other', { supersedes: first.id.replace(/^./, '7') }))
      const { one, other } = await run.all({
        one: (branch) => branch.remember('Ada lives in Paris', { about: 'user/ada' }),
        other: (branch) => branch.remember('Ada lives in Rome', { about: 'user/ada', supersedes: first.id }),
      })
      return [first, refused, one, other]
    }
    const run = await session.run('r')
    const seen = await program(run)
    expect(seen[0]).toEqual({ id: expect.any(String), about: 'user/ada', text: 'Ada  prefers metric units' })
    expect(seen[1]).toBe('MEMORY_UNKNOWN')
    await run.close()
    const { seq } = await store.head()
    const again = await session.run('r')
    expect(await program(again)).toEqual(seen)
    const since = (await store.page({ after: seq })).items.map(({ type }) => type)
    expect(since.filter((type) => type.startsWith('memory.'))).toEqual([])
    await again.remember('Ada prefers metric units'.replace(' ', '  '), { about: 'user/ada' })
    await again.finish()
    const { items } = await store.memory.list({ about: 'user/ada' })
    expect(items.map(({ text, times }) => [text, times]).sort()).toEqual([
      ['Ada  prefers metric units', 2],
      ['Ada lives in Paris', 1],
      ['Ada lives in Rome', 1],
    ])
    // The tape holds no text of an item, so a purge leaves none.
    await store.memory.purge({ about: 'user/ada' })
    const tape: unknown[] = []
    for await (const event of again.tape()) tape.push(event.data)
    expect(JSON.stringify(tape)).not.toContain('Paris')
    expect(await codeOf(again.remember('late'))).toBe('RUN_FINISHED')
    expect((await store.memory.list()).items).toEqual([])
    await expectSound(store)
  })

  test('the item and the entry are one commit, and a run that is closed remembers nothing', async () => {
    const store = await open()
    const session = await store.session('s')
    const run = await session.run('r')
    const { id } = await run.remember('Ada prefers metric units')
    const events = (await store.page({ types: ['run.took', 'memory.*'] })).items
    expect(events.map(({ type, subject }) => [type, subject])).toEqual([
      ['run.took', run.id],
      ['memory.remembered', id],
    ])
    expect(events[1]?.seq).toBe((events[0]?.seq ?? 0) + 1)
    expect(events[0]?.data).toEqual({ branch: '', name: 'shared', ordinal: 1, kind: 'remember', item: id })
    await run.close()
    expect(await codeOf(run.remember('too late'))).not.toBe('no error')
    expect((await store.memory.list()).items).toHaveLength(1)
    await expectSound(store)
  })
})
