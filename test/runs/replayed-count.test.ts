// The event that ends an attempt says how many calls the tape answered in it.

import { describe, expect, test } from 'vitest'
import { TapeLines } from '../../src/cli/runs/tape-lines.ts'
import type { Event, Run, Store } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

async function endsOf(store: Store, id: string): Promise<readonly (readonly [string, unknown, string])[]> {
  const lines = new TapeLines(new Map())
  const ends: (readonly [string, unknown, string])[] = []
  const count = ({ data }: Event) => (data as { readonly replayed?: number }).replayed
  for await (const event of store.runs.tape(id)) {
    const shown = lines.cells(event)?.at(-1) ?? ''
    if (ENDS.includes(event.type) || (event.type === 'lease.released' && count(event) !== undefined))
      ends.push([event.type, count(event), shown])
  }
  return ends
}

const ENDS = ['run.parked', 'run.halted', 'run.finished', 'run.failed', 'run.cancelled']

describe.each(engines)('on $name', (engine) => {
  test('run.parked and run.finished count the calls that the tape answered', async () => {
    const store = await engine.open()
    await using _ = store.work({
      greet: async (run: Run) => {
        await run.effect('look', () => 1)
        await run.all({ left: (branch) => branch.effect('look', () => 2), right: (branch) => branch.append('note.made', {}) })
        const said = await run.signal<string>('go')
        await run.effect('send', () => said)
        return 'sent'
      },
    })
    const handle = await store.start('greet', { session: 's' })
    await expect.poll(async () => (await endsOf(store, handle.id)).length).toBe(1)
    await store.signal('s', 'go', 'hello')
    expect(await handle.result()).toBe('sent')
    expect(await endsOf(store, handle.id)).toEqual([
      ['run.parked', 0, 'while it waits'],
      ['run.finished', 3, '"sent" (3 entries replayed)'],
    ])
    await expectSound(store)
  })

  test('run.failed and run.cancelled count replayed calls if their holder writes them', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const ended = async (name: string, end: (run: Run) => Promise<void>) => {
      const first = await session.run(name)
      await first.effect('look', () => 1)
      await first.close()
      const again = await session.run(name)
      await again.effect('look', () => 1)
      await end(again)
      return (await endsOf(store, again.id)).at(-1)?.slice(0, 2)
    }
    expect(await ended('fails', (run) => run.fail(new Error('no')))).toEqual(['run.failed', 1])
    expect(await ended('cancelled', (run) => run.cancel('no need'))).toEqual(['run.cancelled', 1])
    expect(await ended('from outside', (run) => store.runs.cancel(run.id, 'no need'))).toEqual(['run.cancelled', undefined])
    await expectSound(store)
  })

  test('lease.released counts replayed calls if the handle was closed, or its node gave the run back', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    for (const left of [1, 2]) {
      await using run = await session.run('report')
      for (let i = 1; i <= left; i++) await run.effect(`page ${i}`, () => i)
    }
    const [report] = (await store.runs.list({ name: 'report' })).items
    expect(await endsOf(store, report?.id ?? '')).toEqual([
      ['lease.released', 0, ''],
      ['lease.released', 1, ' (1 entry replayed)'],
    ])

    const handle = await store.start('slow', { session: 'other' })
    for (const left of [0, 1]) {
      const blocked = Promise.withResolvers<number>()
      const reached = Promise.withResolvers<void>()
      const node = store.work(
        {
          slow: async (run: Run) => {
            await run.effect('first', () => 1)
            await run.effect('second', () => {
              reached.resolve()
              return blocked.promise
            })
          },
        },
        { drain: 0 },
      )
      await reached.promise
      await node.close()
      blocked.resolve(2)
      expect((await endsOf(store, handle.id)).at(-1)?.slice(0, 2)).toEqual(['lease.released', left])
    }
    await expectSound(store)
  })

  test('run.halted counts the calls that the tape answered before the program differed', async () => {
    const store = await engine.open()
    const handle = await store.start('greet', { session: 's' })
    const serve = async (program: (run: Run) => Promise<unknown>, ends: number) => {
      await using _ = store.work({ greet: program })
      await expect.poll(async () => (await endsOf(store, handle.id)).length).toBe(ends)
    }
    const called = () => {
      throw new Error('called again')
    }
    await serve(async (run) => {
      await run.effect('look', () => 1)
      await run.effect('find', () => 2, { input: { page: 1 } })
      await run.signal('go')
    }, 1)
    await store.signal('s', 'go')
    await serve(async (run) => {
      await run.effect('look', called)
      await run.effect('find', called, { input: { page: 2 } })
    }, 2)
    await store.runs.wake(handle.id)
    await serve(async (run) => {
      await run.effect('look', called)
      await run.effect('find', called)
      await run.effect('send', called)
    }, 3)
    expect((await endsOf(store, handle.id)).map(([type, count]) => [type, count])).toEqual([
      ['run.parked', 0],
      ['run.halted', 1],
      ['run.halted', 2],
    ])
    await expectSound(store)
  })
})
