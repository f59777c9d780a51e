// Snapshots of executions: saving, refusing, resuming.

import { describe, expect, test } from 'vitest'
import { codeOf, engines, expectSound } from '../support/engines.ts'

describe.each(engines)('snapshots on $name', ({ open }) => {
  test('a snapshot is read back with the events after it', async () => {
    const store = await open()
    const session = await store.session('exec-1')
    const { seq } = await session.append('step.completed', { step: 'fetch' })
    const content = { state: 'running', outputs: { fetch: ['\ud800', -0] }, variables: { page: 1 } }
    expect(await store.snapshots.save('exec-1', { ...content, step: 'fetch', user: 'ada' })).toMatchObject({ execution: 'exec-1', seq })
    await session.append('step.completed', { step: 'parse' })
    const resumed = await store.snapshots.resumeFrom('exec-1')
    expect(resumed?.snapshot).toMatchObject({ ...content, execution: 'exec-1', session: session.id, step: 'fetch', user: 'ada', seq })
    expect(resumed?.events.map(({ data }) => data)).toEqual([{ step: 'parse' }])
    expect(await store.snapshots.load(session.id)).toEqual(resumed?.snapshot)
    await store.collect({ grace: 0 })
    expect(await store.snapshots.load('exec-1')).toEqual(resumed?.snapshot)
    await expectSound(store)
  })

  test('an older snapshot, one ahead of the journal and one of an unknown execution are refused', async () => {
    const store = await open()
    const session = await store.session('exec-1')
    const first = await session.append('step.completed', { step: 1 })
    const second = await session.append('step.completed', { step: 2 })
    await store.snapshots.save('exec-1', { state: 2, seq: second.seq })
    const { seq } = await store.head()
    expect(await codeOf(store.snapshots.save('exec-1', { state: 1, seq: first.seq }))).toBe('SNAPSHOT_OLDER')
    expect(await codeOf(store.snapshots.save('exec-1', { state: 3, seq: seq + 1 }))).toBe('SNAPSHOT_AHEAD')
    expect(await codeOf(store.snapshots.save('nobody', { state: 1 }))).toBe('SESSION_UNKNOWN')
    expect(await codeOf(store.snapshots.save('exec-1', { state: undefined }))).toBe('DATA_INVALID')
    expect(await codeOf(store.snapshots.save('exec-1', { state: 1, steps: 1 } as never))).toBe('OPTION_INVALID')
    expect((await store.head()).seq).toBe(seq)
    expect((await store.snapshots.load('exec-1'))?.state).toBe(2)
    await store.snapshots.save('exec-1', { state: 'again', seq: second.seq })
    expect((await store.snapshots.load('exec-1'))?.state).toBe('again')
  })

  test('step and user are masked like any text of an event, and `save` returns what is stored', async () => {
    const store = await open()
    await store.session('exec-1')
    const saved = await store.snapshots.save('exec-1', { state: 1, user: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789' })
    expect(saved.user).toMatch(/^\[redacted:/)
    expect((await store.snapshots.list()).items).toEqual([saved])
    await expectSound(store)
  })

  test('snapshots are listed, deleted, and go with their session', async () => {
    const store = await open()
    for (const key of ['a', 'b', 'c']) {
      await store.session(key)
      await store.snapshots.save(key, { state: key })
    }
    const names = async () => (await store.snapshots.list()).items.map(({ execution }) => execution)
    expect(await names()).toEqual(['c', 'b', 'a'])
    const page = await store.snapshots.list({ last: 2 })
    expect((await store.snapshots.list({ last: 2, cursor: page.cursor ?? '' })).items.map(({ execution }) => execution)).toEqual(['a'])
    expect([await store.snapshots.delete('b'), await store.snapshots.delete('b'), await store.snapshots.delete('nobody')]).toEqual([
      true,
      false,
      false,
    ])
    await (await store.session('c')).delete({ reason: 'over' })
    expect(await names()).toEqual(['a'])
    expect(await store.snapshots.load('c')).toBeUndefined()
    expect(await store.snapshots.resumeFrom('nobody')).toBeUndefined()
    await expectSound(store)
  })
})
