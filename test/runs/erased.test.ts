// What was done under a name is not done again because what was said about it was erased: the name stays taken, by its digest alone, and so does what
// came before a fork.

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Run, Store } from '../../src/index.ts'
import { open } from '../../src/index.ts'
import { codeOf, engines, expectSound, later, tempFile } from '../support/engines.ts'
import { makePlace, type Engine as Shared } from './crashing-backend.ts'

const reason = 'subject request 12'

async function eraseLast(store: Store, type: string): Promise<void> {
  for await (const { seq } of store.events({ types: [type], backwards: true, limit: 1 })) await store.erase({ seq, reason })
}

// A folder of files erases as one file does.
describe.each(engines.filter(({ name }) => name !== 'sqlite folder'))('on $name', (engine) => {
  test('a run that is underway is not begun anew once how it was opened is erased', async () => {
    const store = await engine.open()
    let charged = 0
    const session = await store.session('s')
    const run = await session.run('pay', { input: { card: 'of Jane Doe' } })
    await run.effect('charge', () => ++charged)
    await run.close()
    await eraseLast(store, 'run.opened')
    expect(await codeOf(session.run('pay', { input: { card: 'of Jane Doe' } }))).toBe('REPLAY_DIVERGED')
    expect((await store.runs.get(run.id))?.name).toBe('')
    await store.runs.cancel(run.id, 'it cannot go on')
    expect((await session.run('pay')).state).toBe('cancelled')
    expect(charged).toBe(1)
    await expectSound(store)
  })

  test('a run that waits for a node halts once how it was opened is erased, with its reason, and does nothing', async () => {
    const store = await engine.open()
    const handle = await store.start('pay', { session: 's', input: 1, key: 'k' })
    await eraseLast(store, 'run.opened')
    let called = 0
    await using _ = store.work({ pay: () => ++called })
    await expect.poll(async () => (await store.runs.get(handle.id))?.error?.code).toBe('REPLAY_DIVERGED')
    await handle.cancel('it cannot go on')
    expect([called, await handle.state()]).toEqual([0, 'cancelled'])
    await expectSound(store)
  })

  test('a run that is done stays done once how it was opened is erased: its key starts nothing', async () => {
    const store = await engine.open()
    let charged = 0
    await using _ = store.work({ pay: (run: Run) => run.effect('charge', () => ++charged) })
    const start = (input: unknown) => store.start('pay', { session: 's', key: 'req-9', ...(input !== undefined && { input }) })
    const handle = await start({ card: 1 })
    expect(await handle.result()).toBe(1)
    await eraseLast(store, 'run.opened')
    expect(await codeOf(start({ card: 1 }))).toBe('KEY_REUSED')
    expect(await (await start(undefined)).result()).toBe(1)
    expect(charged).toBe(1)
    await expectSound(store)
  })

  test('the key of a fork stays taken, and nothing stands in the way of a deletion', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('pay')
    const { seq: at } = await store.head()
    const fork = await run.fork({ at, key: 'f' })
    await fork.finish()
    await eraseLast(store, 'run.opened')
    expect(await codeOf(run.fork({ at, key: 'f' }))).toBe('KEY_REUSED')
    await run.close()
    await session.delete({ reason })
    await expectSound(store)
  })

  test('an erased payload does not come back with a fork by a handle that is out of date', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('pay', { input: { card: 'of Jane Doe' } })
    const { seq: at } = await store.head()
    await eraseLast(store, 'run.opened')
    expect(await codeOf(run.fork({ at }))).toBe('REPLAY_DIVERGED')
    await run.close()
    await expectSound(store)
  })

  test('a process is not registered a second time, and an approval not asked for again', async () => {
    const store = await engine.open()
    const asked = { kind: 'tool', recovery: 'external', input: { who: 'Jane' } } as const
    const child = await store.processes.register('crawl', asked)
    await child.complete(1)
    await eraseLast(store, 'process.registered')
    expect(await codeOf(store.processes.register('crawl', asked))).toMatch(/^PROCESS_|KEY_REUSED/)
    expect((await store.processes.get('crawl'))?.id).toBe(child.id)
    const question = { subject: 'refund', data: { to: 'Jane' }, key: 'q' }
    const approval = await store.approvals.request(question)
    await store.approvals.decide(approval.id, { decision: 'deny', by: 'grace' })
    await eraseLast(store, 'approval.requested')
    expect(await codeOf(store.approvals.request(question))).toBe('KEY_REUSED')
    await expectSound(store)
  })

  test('a session is found by a key that was erased, until it is deleted', async () => {
    const store = await engine.open()
    const session = await store.session('jane', { title: 'Jane' })
    await eraseLast(store, 'session.opened')
    const same = await store.session('jane')
    expect([same.id, same.key, same.title]).toEqual([session.id, undefined, undefined])
    // Erased once more, by whatever is said of it later, it keeps what it kept.
    await same.rename('Doe')
    await eraseLast(store, 'session.renamed')
    expect((await store.session('jane')).id).toBe(session.id)
    await expectSound(store)
    await same.delete({ reason })
    expect(await store.sessions.find('jane')).toBeUndefined()
    expect((await store.session('jane')).id).not.toBe(session.id)
    await expectSound(store)
  })

  test.each(['nothing', 'the middle', 'how the middle was opened', 'the root'])(
    'a fork of a fork does not pay again when %s is erased',
    async (what) => {
      const store = await engine.open()
      let charged = 0
      const pay = async (run: Run) => run.effect('charge', () => ++charged)
      const root = await store.session('root')
      const run = await root.run('pay')
      await pay(run)
      await run.finish()
      const { seq: at } = await store.head()
      const middle = await root.fork({ at, key: 'middle' })
      const leaf = await middle.fork({ at: (await store.head()).seq, key: 'leaf' })
      if (what === 'the middle') await middle.delete({ reason })
      if (what === 'the root') await root.delete({ reason })
      if (what === 'how the middle was opened')
        for await (const { seq } of store.events({ subject: middle.id, types: ['session.opened'] })) await store.erase({ seq, reason })
      const again = await leaf.run('pay')
      const paid = await pay(again).catch((error: { code?: string }) => error.code)
      expect([paid, charged]).toEqual([what === 'the root' ? 'REPLAY_DIVERGED' : 1, 1])
      await again.close()
      await expectSound(store)
    },
  )
})

test.each<Shared>(['sqlite', 'postgres'])(
  'a run that was opened, done and erased while somebody waited for its session is not done again, on %s',
  async (shared) => {
    const { world, backend, open: openIt } = await makePlace(shared)
    const other = await openIt(await backend())
    later(() => other.close())
    const session = await world.session('s')
    const before = await world.sessions.find('s').then((found) => found?.run('before'))
    const waiting = (await other.session('s')).run('pay', { wait: '20s' })
    // Nobody tells whether it waits already; where it does not, it finds what is erased at once.
    await sleep(100)
    let charged = 0
    const run = await session.run('pay')
    await run.effect('charge', () => ++charged)
    await run.finish()
    await eraseLast(world, 'run.opened')
    await before?.finish()
    const late = await waiting
    expect([late.id, late.state, charged]).toEqual([run.id, 'done', 1])
    await expectSound(world)
  },
)

test('of a name that was erased nothing is left in the file', async () => {
  const path = tempFile()
  const store = await open(path)
  await store.start('pay', { session: 's', key: 'JANE-DOE-KEY' })
  await store.processes.register('JANE-DOE-PROCESS', { kind: 'k', recovery: 'external' })
  await eraseLast(store, 'run.opened')
  await eraseLast(store, 'process.registered')
  await store.close()
  expect(readFileSync(path).includes('JANE-DOE')).toBe(false)
})
