// The registry around processes: lists, references, handles for sessions, waiting for an outcome, and what is pruned.

import { describe, expect, test } from 'vitest'
import type { AgentProcess, Page, ProcessRow, RegisterOptions, Session, Store } from '../../src/index.ts'
import { codeOf, engines, expectSound, lentDatabase, openIn, tempFile } from '../support/engines.ts'

const external = { kind: 'tool', recovery: 'external' } as const satisfies RegisterOptions
const STRAY = '01ARZ3NDEKTSV4RRFFQ69G5FAV' as Session['id']

const names = ({ items }: Page<ProcessRow>) => items.map(({ name }) => name)
const grantsOf = async (store: Store, session: Session, options = {}) =>
  (await store.processes.grants({ session: session.id, ...options })).items.map(({ name }) => name).sort()

describe.each(engines.filter(({ name }) => name !== 'sqlite folder'))('the registry on $name', (engine) => {
  test('the registry lists processes by state, kind, definition and whom they wake, newest first, page by page', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const make = (name: string, options: Partial<RegisterOptions> = {}) => store.processes.register(name, { ...external, ...options })
    const [a, b, c] = [await make('a'), await make('b', { kind: 'crawl', definition: { v: 1 } }), await make('c', { wake: session.id })]
    await make('d', { kind: 'crawl', definition: { v: 2 } })
    await a.complete()
    await b.start()
    await c.wait('reply')
    const { list } = store.processes
    expect(names(await list())).toEqual(['d', 'c', 'b'])
    expect(names(await list({ all: true }))).toEqual(['d', 'c', 'b', 'a'])
    expect(names(await list({ state: 'completed' }))).toEqual(['a'])
    expect(names(await list({ state: 'pending' }))).toEqual(['d'])
    expect(names(await list({ state: 'running' }))).toEqual(['b'])
    expect(names(await list({ kind: 'crawl' }))).toEqual(['d', 'b'])
    expect(names(await list({ kind: 'crawl', state: 'running' }))).toEqual(['b'])
    expect(names(await list({ definition: { v: 2 } }))).toEqual(['d'])
    expect(names(await list({ wake: session.id }))).toEqual(['c'])
    const page = await list({ last: 2 })
    expect(names(page)).toEqual(['d', 'c'])
    const rest = await list({ last: 2, cursor: page.cursor as string })
    expect([names(rest), rest.cursor]).toEqual([['b'], undefined])
    const whole = await list({ all: true, last: 3 })
    expect(names(await list({ all: true, last: 3, cursor: whole.cursor as string }))).toEqual(['a'])
    await expectSound(store)
  })

  test('processes are listed by the session they came from, and name their environment', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const env = await store.artifacts.putEnvironment({ node: '24' })
    await store.processes.register('a', { ...external, provenance: { session: session.id }, env })
    await store.processes.register('b', external)
    expect(names(await store.processes.list({ session: session.id }))).toEqual(['a'])
    expect(names(await store.processes.list({ session: (await store.session('other')).id }))).toEqual([])
    expect((await (await store.processes.get('a'))?.look())?.env).toBe(env)
    const other = `process-env:sha256:${'0'.repeat(64)}`
    const differs = store.processes.register('a', { ...external, provenance: { session: session.id }, env: other })
    await expect(differs).rejects.toMatchObject({ code: 'PROCESS_DIFFERS', message: expect.stringContaining('env') })
    expect(await codeOf(store.processes.register('c', { ...external, env: 'node 24' }))).toBe('OPTION_INVALID')
    await expectSound(store)
  })

  test('the first reference counts; the same again changes nothing, and another is refused', async () => {
    const store = await engine.open()
    const child = await store.processes.register('c', external)
    const reference = { backend: 'restate', id: 'job-7', metadata: { zone: 'eu', n: 1 } }
    await child.refer(reference)
    const { seq } = await store.head()
    await child.refer({ metadata: { n: 1, zone: 'eu' }, id: 'job-7', backend: 'restate' })
    expect(await codeOf(child.refer({ ...reference, id: 'job-8' }))).toBe('PROCESS_REFERENCE_SET')
    expect(await codeOf(child.refer({ backend: 'restate', id: 'job-7' }))).toBe('PROCESS_REFERENCE_SET')
    await expect(child.look()).resolves.toMatchObject({ reference })
    expect((await store.head()).seq).toBe(seq)
    await child.complete()
    await child.refer(reference)
    const other = await store.processes.register('d', external)
    await other.complete()
    expect(await codeOf(other.refer(reference))).toBe('PROCESS_FINISHED')
    await expectSound(store)
  })

  test('handles of processes are given, labelled, taken back and handed on, all or none', async () => {
    const store = await engine.open()
    const [ada, bob] = [await store.session('ada'), await store.session('bob')]
    const children: AgentProcess[] = []
    for (const name of ['a', 'b', 'c']) children.push(await store.processes.register(name, external))
    const { grant, revoke, transfer, grants } = store.processes
    expect((await grants({ process: 'a' })).items).toEqual([])
    expect(await grant('a', ada.id, { label: 'mine' })).toMatchObject({ name: 'a', label: 'mine', session: ada.id, state: 'pending' })
    await grant('a', ada.id, { kind: 'crawl', label: 'ours' })
    await grant('a', bob.id)
    await grant('b', ada.id)
    // Without a kind of its own, a handle has the kind of its process.
    expect((await grants({ process: 'a' })).items.map(({ session, kind, label }) => [session, kind, label])).toEqual([
      [bob.id, external.kind, undefined],
      [ada.id, 'crawl', 'ours'],
    ])
    expect((await grants({ process: 'a', session: bob.id })).items).toHaveLength(1)
    expect((await grants({ process: 'c', session: bob.id })).items).toEqual([])
    expect(await revoke('a', bob.id)).toBe(true)
    expect(await revoke('a', bob.id)).toBe(false)
    const { seq } = await store.head()
    const missing = await transfer(['a', 'b', 'c'], ada.id, bob.id).catch((error) => error)
    expect(missing).toMatchObject({ code: 'PROCESS_NOT_GRANTED', details: { missing: ['c'] } })
    expect((await store.head()).seq).toBe(seq)
    expect(await grantsOf(store, ada)).toEqual(['a', 'b'])
    const handed = await transfer(['a', 'b', 'a'], ada.id, bob.id)
    expect(handed.map(({ name, kind, label, session }) => [name, kind, label, session])).toEqual([
      ['a', 'crawl', 'ours', bob.id],
      ['b', external.kind, undefined, bob.id],
    ])
    expect([await grantsOf(store, ada), await grantsOf(store, bob)]).toEqual([[], ['a', 'b']])
    expect((await transfer(['a'], bob.id, bob.id)).length).toBe(1)
    await children[0]?.complete()
    expect(await grantsOf(store, bob, { live: true })).toEqual(['b'])
    expect(await grantsOf(store, bob)).toEqual(['a', 'b'])
    const codes = [grant('nobody', ada.id), grant('a', STRAY), revoke('nobody', ada.id), transfer(['a'], bob.id, STRAY), grants({})]
    expect(await Promise.all(codes.map(codeOf))).toEqual([
      'PROCESS_UNKNOWN',
      'SESSION_UNKNOWN',
      'PROCESS_UNKNOWN',
      'SESSION_UNKNOWN',
      'RANGE_INVALID',
    ])
    await expectSound(store)
  })

  test('a session that is deleted has no handles and wakes up no more; its processes stay', async () => {
    const store = await engine.open()
    const [ada, bob] = [await store.session('ada'), await store.session('bob')]
    const mine = await store.processes.register('mine', { ...external, wake: ada.id })
    const shared = await store.processes.register('shared', external)
    const over = await store.processes.register('over', external)
    await over.complete()
    for (const name of ['mine', 'shared', 'over']) await store.processes.grant(name, ada.id, { label: 'a secret of ada' })
    await store.processes.grant('shared', bob.id)
    const report = await store.processes.leave((await store.session('cyd')).id)
    expect(report).toEqual({ revoked: 0, unwoken: 0, orphaned: [], kept: [] })
    await ada.delete({ reason: 'request 12' })
    expect([await grantsOf(store, ada), await grantsOf(store, bob)]).toEqual([[], ['shared']])
    expect(await mine.look()).toMatchObject({ state: 'pending', wakeWas: ada.id })
    expect((await mine.look()).wake).toBeUndefined()
    await mine.event('page.fetched', {}, { wake: true })
    await shared.complete()
    await store.processes.grant('mine', bob.id)
    const left = await store.processes.leave(bob.id)
    expect(left).toEqual({ revoked: 2, unwoken: 0, orphaned: ['mine'], kept: expect.arrayContaining(['shared', 'mine']) })
    expect(await codeOf(store.processes.grant('mine', ada.id))).toBe('SESSION_DELETED')
    for await (const { data } of store.events({ types: ['grant.given'], session: ada.id })) expect(data).toBeUndefined()
    await expectSound(store)
  })

  test('a caller that waits for the end of a process, or for an event, is woken at once', async () => {
    const store = await engine.open()
    const child = await store.processes.register('c', external)
    const other = await store.processes.get('c')
    const heard = other?.nextEvent({ type: 'page.fetched', after: 1 })
    const next = other?.nextEvent()
    const result = other?.result()
    await child.event('page.fetched', 1)
    expect((await next)?.data).toBe(1)
    await child.event('page.lost', 2)
    await child.event('page.fetched', 3)
    expect(await heard).toMatchObject({ number: 3, data: 3 })
    expect(await child.nextEvent({ after: 2 })).toMatchObject({ number: 3 })
    const never = other?.nextEvent({ type: 'page.missed' })
    const stop = new AbortController()
    const stopped = codeOf(child.result({ signal: stop.signal }))
    stop.abort()
    expect(await stopped).toBe('ABORTED')
    await child.complete('done')
    expect(await result).toEqual({ state: 'completed', value: 'done' })
    expect(await never).toBeUndefined()
  })

  test('processes that ended before a time are pruned with all their rows, and nothing else is', async () => {
    let now = 1_800_000_000_000
    const store = await engine.open({ clock: { now: () => now } })
    const session = await store.session('s')
    const given = { kind: 'tool', recovery: 'rerunnable', wake: session.id } as const
    const old = await store.processes.register('old', given)
    const live = await store.processes.register('live', given)
    const held = await old.claim()
    await held.start()
    for (let i = 0; i < 7; i++) await held.event('page.fetched', { i }, { key: `k${i}`, wake: true })
    await store.processes.grant('old', session.id)
    await store.processes.grant('live', session.id)
    await live.event('page.fetched', {})
    const { items } = await old.events({ last: 1 })
    expect(items[0]?.number).toBe(7)
    // One that was erased keeps its place until it goes with the others.
    let seq = 0
    for await (const event of store.events({ types: ['process-event.recorded'], backwards: true, limit: 2 })) seq = event.seq
    await store.erase({ seq, reason: 'request 7' })
    expect((await held.event('page.fetched', 'the next')).number).toBe(8)
    const { fence } = held
    await held.complete('done')
    now += 1000
    await (await store.processes.register('young', external)).complete()
    expect(await store.processes.prune({ before: now - 1000 })).toEqual({ processes: 0, events: 0, grants: 0 })
    expect(await store.processes.prune({ before: new Date(now) })).toEqual({ processes: 1, events: 9, grants: 1 })
    expect(await store.processes.prune({ before: now })).toEqual({ processes: 0, events: 0, grants: 0 })
    expect(names(await store.processes.list({ all: true }))).toEqual(['young', 'live'])
    expect(await store.processes.get('old')).toBeUndefined()
    const gone = [old.look(), old.events(), old.count(), old.event('a.b'), old.complete(), old.claim(), old.result(), old.start()]
    expect(await Promise.all(gone.map(codeOf))).toEqual(gone.map(() => 'PROCESS_UNKNOWN'))
    expect(await grantsOf(store, session)).toEqual(['live'])
    expect(await live.count()).toBe(1)
    expect((await session.inbox.list()).items.length).toBeGreaterThan(6)
    // The name is free, and what is registered under it is another process.
    const anew = await store.processes.register('old', { ...given, label: 'another' })
    expect(anew.id).not.toBe(old.id)
    expect((await anew.event('page.fetched', {}, { key: 'k0' })).number).toBe(1)
    const again = await anew.claim()
    expect(again.fence).toBeGreaterThan(fence)
    expect(await codeOf(held.event('page.fetched', {}))).toBe('PROCESS_UNKNOWN')
    await expectSound(store)
  })

  test('erasing any event leaves rows that are the fold of the rest', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const given = { kind: 'tool', recovery: 'rerunnable', wake: session.id, label: 'ada’s' } as const
    const child = await store.processes.register('c', given)
    await using held = await child.claim()
    await held.start()
    await held.event('page.fetched', { url: 'a' }, { key: 'k', wake: true })
    await held.wait('reply')
    await held.refer({ backend: 'b', id: 'ada' })
    await held.cancel('ada asked')
    await store.processes.grant('c', session.id, { label: 'ada’s' })
    await held.complete({ of: 'ada' })
    const seqs: number[] = []
    for await (const { seq, type } of store.events({ types: ['process.*', 'process-event.*', 'grant.*'] })) {
      expect(type).toBeDefined()
      seqs.push(seq)
    }
    expect(seqs).toHaveLength(11)
    for (const seq of seqs) {
      await store.erase({ seq, reason: 'request 9' })
      await expectSound(store)
    }
    // What is left is that it was there, and how it ended; its name is taken, and nobody runs it.
    expect(await store.processes.get('c')).toMatchObject({ name: '', kind: '', recovery: 'external' })
    expect(await child.look()).toMatchObject({ name: '', kind: '', recovery: 'external', state: 'completed' })
    expect(await child.result()).toEqual({ state: 'completed' })
    expect(await child.events()).toEqual({ items: [] })
    expect(JSON.stringify(await child.look())).not.toContain('ada')
    expect(await store.processes.prune({ before: Date.now() + 1 })).toEqual({ processes: 1, events: 4, grants: 0 })
    await expectSound(store)
  })

  test('bad input about processes is refused and writes nothing', async () => {
    const store = await engine.open()
    const child = await store.processes.register('c', external)
    const { seq } = await store.head()
    const { processes } = store
    const calls: readonly (readonly [string, () => unknown])[] = [
      ['RUN_NAME_INVALID', () => processes.register('', external)],
      ['RUN_NAME_INVALID', () => processes.register('d', { ...external, kind: '' })],
      ['OPTION_INVALID', () => processes.register('d', { kind: 'tool' } as never)],
      ['OPTION_INVALID', () => processes.register('d', { ...external, recovery: 'maybe' as never })],
      ['OPTION_INVALID', () => processes.register('d', { ...external, attempts: 2 })],
      ['OPTION_INVALID', () => processes.register('d', { kind: 'tool', recovery: 'rerunnable', attempts: 0 })],
      ['OPTION_INVALID', () => processes.register('d', { ...external, label: 'x'.repeat(2000) })],
      ['SESSION_UNKNOWN', () => processes.register('d', { ...external, provenance: { session: 'x' as never } })],
      ['SESSION_UNKNOWN', () => processes.register('d', { ...external, wake: 'x' as never })],
      ['DATA_INVALID', () => processes.register('d', { ...external, input: Number.NaN })],
      ['DATA_INVALID', () => child.event('a.b', new Map())],
      ['KEY_INVALID', () => child.event('a.b', 1, { key: '' })],
      ['OPTION_INVALID', () => child.abandoned({ writer: 'me' as never })],
      ['OPTION_INVALID', () => child.cancel('')],
      ['RUN_NAME_INVALID', () => child.wait('')],
      ['RANGE_INVALID', () => child.events({ after: -1 })],
      ['RANGE_INVALID', () => child.events({ last: 0 })],
      ['RANGE_INVALID', () => processes.list({ state: 'gone' as never })],
      ['RANGE_INVALID', () => processes.prune({} as never)],
      ['DURATION_INVALID', () => child.claim({ wait: 'soon' as never })],
      ['OPTION_INVALID', () => processes.work({ tool: 'x' as never })],
    ]
    for (const [code, call] of calls) expect([code, await codeOf((async () => call())())]).toEqual([code, code])
    expect((await store.head()).seq).toBe(seq)
  })
})

test.each(['sqlite', 'postgres'])('on %s what one process registers another finds, also after it was opened again', async (engine) => {
  const url = engine === 'sqlite' ? tempFile() : await lentDatabase()
  const [one, two] = [await openIn(url), await openIn(url)]
  const child = await one.processes.register('c', external)
  const there = (await two.processes.get('c')) as AgentProcess
  const heard = there.nextEvent()
  await Promise.all([child.event('a.b', 1), there.event('a.b', 2), child.event('a.b', 3), there.event('a.b', 4)])
  expect(await heard).toMatchObject({ number: 1 })
  expect((await child.events()).items.map(({ data }) => data).sort()).toEqual([1, 2, 3, 4])
  const result = there.result()
  await child.complete({ pages: 12 })
  expect(await result).toEqual({ state: 'completed', value: { pages: 12 } })
  await one.close()
  const three = await openIn(url)
  expect(await (await three.processes.register('c', external)).result()).toEqual({ state: 'completed', value: { pages: 12 } })
  await expectSound(three)
})
