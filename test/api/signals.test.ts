// Every long call and every iterator takes a signal. One that stops early says so with ABORTED, except a tail, which ends.

import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Session, Store } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

interface World {
  readonly store: Store
  readonly session: Session
  readonly approval: string
}

type Given = { readonly signal: AbortSignal }
type Calls = Readonly<Record<string, (world: World, options: Given) => Promise<unknown>>>

const DOCS = { dimensions: 2, metric: 'cosine' } as const
const BYTES = Uint8Array.of(1, 2, 3)

const calls: Calls = {
  'session.run': ({ session }, options) => session.run('r', options),
  'session.lease': ({ session }, options) => session.lease(options),
  'queue.claim': ({ store }, options) => store.queue('q').claim({ wait: '60s', ...options }),
  'approvals.wait': ({ store, approval }, options) => store.approvals.wait(approval, options),
  usage: ({ store }, options) => store.usage(options),
  verify: ({ store }, options) => store.verify(options),
  verifyKeys: ({ store }, options) => store.verifyKeys(options),
  check: ({ store }, options) => store.check(options),
  rebuild: ({ store }, options) => store.rebuild({ check: true, ...options }),
  maintain: ({ store }, options) => store.maintain(options),
  collect: ({ store }, options) => store.collect({ grace: 0, ...options }),
  'blobs.put': ({ store }, options) => store.blobs.put(BYTES, options),
  'blobs.get': async ({ store }, options) => store.blobs.get(await store.blobs.put(BYTES), options),
  'snapshots.resumeFrom': ({ store }, options) => store.snapshots.resumeFrom('chat', options),
  'attachments.put': ({ session }, options) => session.attachments.put(BYTES, options),
  'attachments.get': async ({ session }, options) => session.attachments.get((await session.attachments.put(BYTES)).id, options),
  'attachments.sweep': ({ store }, options) => store.attachments.sweep(options),
  'memory.recall': ({ store }, options) => store.memory.recall('what?', options),
  'memory.rememberAll': ({ store }, options) => store.memory.rememberAll([{ text: 'x' }], options),
  'memory.forget': ({ store }, options) => store.memory.forget({ about: 'ada' }, options),
  'memory.purge': ({ store }, options) => store.memory.purge({ about: 'ada' }, options),
  'memory.maintain': ({ store }, options) => store.memory.maintain(options),
  'memory.backfill': ({ store }, options) => store.memory.backfill(options),
  'vectors.upsert': ({ store }, options) => store.vectors('docs', DOCS).upsert({ id: 'a', vector: [1, 0] }, options),
  'vectors.search': ({ store }, options) => store.vectors('docs', DOCS).search([1, 0], options),
  'vectors.delete': ({ store }, options) => store.vectors('docs', DOCS).delete({ filter: { lang: 'en' }, ...options }),
  'vectors.count': ({ store }, options) => store.vectors('docs', DOCS).count(options),
  'canvases.recover': ({ store }, options) => store.canvases.recover(options),
  'canvases.compact': ({ store }, options) => store.canvases.compact(options),
}

/** Each has at least two items. */
const lists: Readonly<Record<string, (world: World, options: Given) => AsyncIterable<unknown>>> = {
  events: ({ store }, options) => store.events(options),
  'audit.list': ({ store }, options) => store.audit.list(options),
  'state.list': ({ store }, options) => store.state.list('cursor/', options),
  'blobs.stream': ({ store }, options) => store.blobs.stream(LARGE, options),
  'attachments.stream': ({ session }, options) => session.attachments.stream(LARGE, options),
  'attachments.uncommitted': ({ store }, options) => store.attachments.uncommitted(options),
  'canvas.history': ({ session }, options) => session.canvas('plan').history(options),
  'approvals.history': ({ store, approval }, options) => store.approvals.history(approval, options),
  'approvals.export': ({ store }, options) => store.approvals.export(options),
  'runs.tape': ({ store }, options) => tapeOf(store, options),
}

/** More than one piece of zeros. */
const large = new Uint8Array(1024 * 1024 + 1)
const LARGE = createHash('sha256').update(large).digest('hex')

async function* tapeOf(store: Store, options: Given) {
  const { items } = await store.runs.list()
  yield* store.runs.tape(items[0]?.id ?? '', options)
}

async function openWorld(store: Store): Promise<World> {
  const session = await store.session('chat')
  await store.approvals.request({ subject: 'leave' })
  const { id: approval } = await store.approvals.request({ subject: 'pay', deciders: ['ada'] })
  await store.approvals.seen(approval, { by: 'ada' })
  return { store, session, approval }
}

/** Aborts after the first item. */
async function take(list: (options: Given) => AsyncIterable<unknown>): Promise<number> {
  const over = new AbortController()
  let items = 0
  for await (const _ of list({ signal: over.signal })) {
    items++
    over.abort()
  }
  return items
}

async function fill({ store, session, approval }: World): Promise<void> {
  for (let n = 0; n < 2; n++) {
    await store.state.set(`cursor/${n}`, n)
    await session.canvas('plan').replace({ n })
    expect(await codeOf(store.approvals.decide(approval, { decision: 'approve', by: 'eve' }))).toBe('APPROVAL_FORBIDDEN')
  }
  await session.attachments.put(large)
  await session.attachments.put(Uint8Array.of(1))
  const run = await session.run('r')
  await run.finish()
}

describe.each(engines)('on $name', ({ open }) => {
  test('a long call whose signal is aborted is ABORTED, and something else than a signal is refused', async () => {
    const world = await openWorld(await open({ embedder: 'hash' }))
    const signal = AbortSignal.abort()
    const found: Record<string, readonly string[]> = {}
    for (const [name, call] of Object.entries(calls))
      found[name] = [await codeOf(call(world, { signal })), await codeOf(call(world, { signal: {} as AbortSignal }))]
    expect(found).toEqual(Object.fromEntries(Object.keys(calls).map((name) => [name, ['ABORTED', 'OPTION_INVALID']])))
    expect(await world.store.vectors('docs', DOCS).count()).toBe(0)
    await expectSound(world.store)
  })

  test('a list that is aborted in the middle is ABORTED, and does not look complete', async () => {
    const world = await openWorld(await open())
    await fill(world)
    const found: Record<string, string> = {}
    for (const [name, list] of Object.entries(lists)) found[name] = await codeOf(take((options) => list(world, options)))
    expect(found).toEqual(Object.fromEntries(Object.keys(lists).map((name) => [name, 'ABORTED'])))
  })

  test('a check that is underway ends with its signal, and a bulk ingest between two commits', async () => {
    const { store } = await openWorld(await open())
    const over = new AbortController()
    const checking = codeOf(store.check({ signal: over.signal }))
    const items = Array.from({ length: 2000 }, (_, i) => ({ text: `note ${i}` }))
    const ingesting = codeOf(store.memory.rememberAll(items, { signal: over.signal }))
    over.abort()
    expect(await checking).toBe('ABORTED')
    expect(await ingesting).toBe('ABORTED')
    expect((await store.memory.list({ last: 1000 })).items.length).toBeLessThan(1000)
    expect(await store.check()).toEqual([])
    await expectSound(store)
  })

  test('an abort ends the wait for a chunk that does not come, and nothing is stored', async () => {
    const { store, session } = await openWorld(await open())
    for (const put of [store.blobs.put, session.attachments.put]) {
      const over = new AbortController()
      const stuck = async function* () {
        yield large
        setImmediate(() => over.abort())
        await new Promise(() => {})
      }
      expect(await codeOf(put(stuck(), { signal: over.signal }))).toBe('ABORTED')
    }
    expect((await store.blobs.list()).items).toEqual([])
    expect((await session.attachments.list()).items).toEqual([])
    await expectSound(store)
  })

  test('a tail ends with its signal', async () => {
    const { store, session } = await openWorld(await open())
    await session.canvas('plan').replace({})
    expect(await take((options) => session.canvas('plan').subscribe(options))).toBe(1)
    expect(await take((options) => store.events({ live: true, ...options }))).toBe(1)
    for await (const _ of store.memory.subscribe({ signal: AbortSignal.abort() })) throw new Error('a notice')
  })

  test('a waiting tail ends by return, and by the close of its store, also at its beginning', async () => {
    const { store, session } = await openWorld(await open())
    const tails = () => [store.events({ live: true, after: 1000 }), session.canvas('plan').subscribe({ from: 0 }), store.memory.subscribe()]
    const over = { done: true, value: undefined }
    for (const begun of [async () => {}, () => store.head()])
      for (const tail of tails()) {
        const waiting = tail.next()
        await begun()
        expect(await tail.return()).toEqual(over)
        expect(await waiting).toEqual(over)
      }
    const waiting = tails().map((tail) => tail.next())
    await store.close()
    expect(await Promise.all(waiting)).toEqual([over, over, over])
  })
})
