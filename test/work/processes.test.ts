// Agent processes as their users hold them: registered once, heard in order, ended once.

import { describe, expect, test } from 'vitest'
import type { AgentProcess, RegisterOptions, Store } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const tool = { kind: 'tool', recovery: 'external' } as const satisfies RegisterOptions

const numbersOf = async (child: AgentProcess, query = {}) =>
  (await child.events(query)).items.map(({ number, type }) => `${number} ${type}`)

const refused = async (store: Store, calls: readonly (() => Promise<unknown>)[]) => {
  const { seq } = await store.head()
  const codes: string[] = []
  for (const call of calls) codes.push(await codeOf((async () => call())()))
  expect((await store.head()).seq).toBe(seq)
  return codes
}

describe.each(engines.filter(({ name }) => name !== 'sqlite folder'))('processes on $name', (engine) => {
  test('the lines of the API hold as written', async () => {
    const store = await engine.open()
    const session = await store.session('support/4711')
    const [url, key] = ['https://example.org', 'page-1']
    const child = await store.processes.register('crawl-1', { kind: 'tool', recovery: 'rerunnable', wake: session.id })
    await child.event('page.fetched', { url }, { key })
    await child.complete({ pages: 12 })
    expect((await child.result<{ pages: number }>()).value).toEqual({ pages: 12 })
    await expectSound(store)
  })

  test('a name is registered once: the same definition finds it, another is refused and told what differs', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const given: RegisterOptions = {
      kind: 'tool',
      recovery: 'rerunnable',
      label: 'the crawl',
      definition: { crawler: 2 },
      input: { from: 'https://example.org' },
      events: { 'page.fetched': { wake: true } },
      provenance: { session: session.id, by: 'user/ada' },
      wake: session.id,
    }
    const child = await store.processes.register('crawl-1', given)
    expect(child.state).toBe('pending')
    expect(await child.input()).toEqual({ from: 'https://example.org' })
    const { seq } = await store.head()
    expect((await store.processes.register('crawl-1', { ...given, definition: { crawler: 2 } })).id).toBe(child.id)
    const other = await store.processes.register('crawl-1', { ...given, label: 'another', recovery: 'external' }).catch((error) => error)
    expect(other).toMatchObject({ code: 'PROCESS_DIFFERS', details: { differs: ['recovery', 'label', 'attempts'], state: 'pending' } })
    expect(await codeOf(store.processes.register('crawl-1', { ...given, wake: (await store.session('t')).id }))).toBe('PROCESS_DIFFERS')
    expect((await store.head()).seq).toBe(seq + 1)
    expect((await store.processes.get('crawl-1'))?.id).toBe(child.id)
    expect((await store.processes.get(child.id))?.name).toBe('crawl-1')
    expect(await store.processes.get('crawl-2')).toBeUndefined()
    // What has ended is still what it was.
    await child.complete()
    expect((await store.processes.register('crawl-1', given)).state).toBe('completed')
    await expectSound(store)
  })

  test('two who register the same name at once have the same process', async () => {
    const store = await engine.open()
    const many = await Promise.all(Array.from({ length: 8 }, () => store.processes.register('one', tool)))
    expect(new Set(many.map(({ id }) => id)).size).toBe(1)
    await expectSound(store)
  })

  test('the first start is recorded, whoever comes next is told who that was, and it never changes', async () => {
    const store = await engine.open()
    const child = await store.processes.register('c', tool)
    const first = await child.start({ owner: 'worker-7' })
    expect(first).toMatchObject({ owner: 'worker-7', repeated: false })
    expect(child.state).toBe('running')
    expect(await child.start({ owner: 'worker-8' })).toEqual({ ...first, repeated: true })
    expect(await child.start()).toEqual({ ...first, repeated: true })
    await child.complete()
    expect(await child.start()).toEqual({ ...first, repeated: true })
    expect(await codeOf((await store.processes.register('d', tool)).complete())).toBe('no error')
    expect(await codeOf((await store.processes.register('d', tool)).start())).toBe('PROCESS_FINISHED')
    await expectSound(store)
  })

  test('events are numbered from 1 in each process, and lists go on behind a number', async () => {
    const store = await engine.open()
    const [a, b] = [await store.processes.register('a', tool), await store.processes.register('b', tool)]
    for (let i = 1; i <= 5; i++) await a.event(i % 2 ? 'odd.came' : 'even.came', { i })
    expect((await b.event('odd.came')).number).toBe(1)
    expect(await numbersOf(a)).toEqual(['1 odd.came', '2 even.came', '3 odd.came', '4 even.came', '5 odd.came'])
    expect(await numbersOf(a, { after: 3 })).toEqual(['4 even.came', '5 odd.came'])
    expect(await numbersOf(a, { after: 5 })).toEqual([])
    expect(await numbersOf(a, { type: 'even.came' })).toEqual(['2 even.came', '4 even.came'])
    expect(await numbersOf(a, { type: 'odd.came', after: 1 })).toEqual(['3 odd.came', '5 odd.came'])
    expect(await numbersOf(a, { last: 2 })).toEqual(['4 even.came', '5 odd.came'])
    const page = await a.events({ limit: 3 })
    expect(page.items.map(({ data }) => data)).toEqual([{ i: 1 }, { i: 2 }, { i: 3 }])
    expect(await numbersOf(a, { limit: 3, cursor: page.cursor })).toEqual(['4 even.came', '5 odd.came'])
    expect(await Promise.all([a.count(), a.count({ type: 'odd.came' }), a.count({ type: 'odd.came', through: 3 })])).toEqual([5, 3, 2])
    await expectSound(store)
  })

  test('concurrent events of a process are all recorded, each under a number of its own', async () => {
    const store = await engine.open()
    const child = await store.processes.register('c', tool)
    const told = await Promise.all(Array.from({ length: 20 }, (_, i) => child.event('word.said', { i })))
    expect(told.map(({ number }) => number).sort((x, y) => x - y)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    await expectSound(store)
  })

  test('an event with a key is recorded once, and other content with it is refused', async () => {
    const store = await engine.open()
    const child = await store.processes.register('c', tool)
    const first = await child.event('page.fetched', { url: 'a' }, { key: 'k' })
    expect(first).toMatchObject({ number: 1, key: 'k', repeated: false })
    const { seq } = await store.head()
    expect(await child.event('page.fetched', { url: 'a' }, { key: 'k' })).toEqual({ ...first, repeated: true })
    expect(await codeOf(child.event('page.fetched', { url: 'b' }, { key: 'k' }))).toBe('KEY_REUSED')
    expect(await codeOf(child.event('page.seen', { url: 'a' }, { key: 'k' }))).toBe('KEY_REUSED')
    expect((await store.head()).seq).toBe(seq)
    await child.complete()
    // A retry hears what it was told before, also when the process has ended since.
    expect(await child.event('page.fetched', { url: 'a' }, { key: 'k' })).toEqual({ ...first, repeated: true })
    expect(await codeOf(child.event('page.fetched', { url: 'a' }, { key: 'l' }))).toBe('PROCESS_FINISHED')
    const other = await store.processes.register('d', tool)
    expect((await other.event('page.fetched', { url: 'b' }, { key: 'k' })).number).toBe(1)
    await expectSound(store)
  })

  test('a process with declared event types refuses others; one without hears every type', async () => {
    const store = await engine.open()
    const child = await store.processes.register('c', {
      ...tool,
      events: { 'page.fetched': { needs: ['/url', '/at/0'] }, 'page.lost': {} },
    })
    const list = await store.processes.register('d', { ...tool, events: ['page.fetched'] })
    const codes = await refused(store, [
      () => child.event('page.missed', {}),
      () => list.event('page.lost', {}),
      () => child.event('page.fetched', { url: 'a', at: [] }),
      () => child.event('page.fetched'),
      () => child.event('process.completed', {}),
      () => child.event('nonsense', {}),
    ])
    expect(codes).toEqual([
      'PROCESS_EVENT_UNDECLARED',
      'PROCESS_EVENT_UNDECLARED',
      'PROCESS_EVENT_INCOMPLETE',
      'PROCESS_EVENT_INCOMPLETE',
      'TYPE_RESERVED',
      'TYPE_INVALID',
    ])
    await child.event('page.fetched', { url: 'a', at: [0] })
    await list.event('page.fetched')
    // What happens to every process need not be declared.
    await child.wait('reply')
    expect(await numbersOf(child)).toEqual(['1 page.fetched', '2 process.waiting'])
    await expectSound(store)
  })

  test('the wait is there until it goes on or ends, and what has ended does not wait', async () => {
    const store = await engine.open()
    const child = await store.processes.register('c', tool)
    await child.wait('signal', { name: 'go' })
    expect(await child.look()).toMatchObject({ state: 'waiting', wait: { kind: 'signal', on: { name: 'go' } } })
    await child.wait('signal', { name: 'go' })
    await child.resume()
    expect((await child.look()).state).toBe('pending')
    await child.resume()
    await child.start()
    await child.wait('reply')
    expect((await child.look()).state).toBe('waiting')
    expect((await store.processes.list({ state: 'waiting' })).items.map(({ name }) => name)).toEqual(['c'])
    await child.fail(new TypeError('gone'))
    expect((await child.look()).wait).toBeUndefined()
    expect(await numbersOf(child)).toEqual(['1 process.waiting', '2 process.resumed', '3 process.waiting', '4 process.failed'])
    expect(await refused(store, [() => child.wait('reply'), () => child.resume()])).toEqual(['PROCESS_FINISHED', 'PROCESS_FINISHED'])
    await expectSound(store)
  })

  test('requests are recorded once: the first counts, and none is made of what has ended', async () => {
    const store = await engine.open()
    const child = await store.processes.register('c', tool)
    const cancel = await child.cancel('not needed')
    expect(cancel).toMatchObject({ reason: 'not needed', repeated: false })
    expect(
      await store
        .as('user/bob')
        .processes.get('c')
        .then((other) => other?.cancel('really')),
    ).toEqual({ ...cancel, repeated: true })
    const abandon = await child.abandon('gone for good')
    expect(await child.abandon('again')).toEqual({ ...abandon, repeated: true })
    expect((await child.look()).state).toBe('pending')
    expect(await numbersOf(child)).toEqual(['1 process.cancel-requested', '2 process.abandon-requested'])
    await child.cancelled()
    expect(await child.result()).toEqual({ state: 'cancelled', reason: 'not needed' })
    expect(await refused(store, [() => child.cancel('x'), () => child.abandon('x')])).toEqual(['PROCESS_FINISHED', 'PROCESS_FINISHED'])
    await expectSound(store)
  })

  test.each([
    ['completed', (child: AgentProcess, key?: string) => child.complete({ pages: 12 }, { control: { next: 'sum' }, ...(key && { key }) })],
    ['failed', (child: AgentProcess, key?: string) => child.fail(new TypeError('no'), key ? { key } : {})],
    ['cancelled', (child: AgentProcess, key?: string) => child.cancelled('enough', key ? { key } : {})],
    ['abandoned', (child: AgentProcess, key?: string) => child.abandoned({ writer: 'sweep', owner: 'w', fence: 7 }, key ? { key } : {})],
  ] as const)(
    'a process that is %s stays so: the same with the same key is told as repeated, everything else is refused',
    async (state, end) => {
      const store = await engine.open()
      const child = await store.processes.register('c', tool)
      const told = await end(child, 'end-1')
      expect(told).toMatchObject({ number: 1, type: `process.${state}`, repeated: false })
      expect(await child.result()).toEqual(OUTCOMES[state])
      expect(child.state).toBe(state)
      expect(await end(child, 'end-1')).toEqual({ ...told, repeated: true })
      const again = await end(child).catch((error) => error)
      expect(again).toMatchObject({ code: 'PROCESS_FINISHED', details: { state, name: 'c' } })
      const codes = await refused(store, [
        () => child.complete(1),
        () => child.fail(1),
        () => child.cancelled(),
        () => child.abandoned({ writer: 'reconciled' }),
        () => child.event('a.b'),
        () => child.complete('other', { key: 'end-1' }),
      ])
      expect(codes).toEqual([...Array.from({ length: 5 }, () => 'PROCESS_FINISHED'), 'KEY_REUSED'])
      await expectSound(store)
    },
  )

  test('two callers end a process at once: only the first counts', async () => {
    const store = await engine.open()
    const child = await store.processes.register('c', tool)
    const codes = await Promise.all([codeOf(child.complete(1)), codeOf(child.fail(2)), codeOf(child.cancelled('3'))])
    expect(codes.sort()).toEqual(['PROCESS_FINISHED', 'PROCESS_FINISHED', 'no error'])
    expect(await child.count()).toBe(1)
    await expectSound(store)
  })

  test('a large value lies in a blob, and is read back whole', async () => {
    const store = await engine.open()
    const text = 'x'.repeat(100_000)
    const child = await store.processes.register('c', { ...tool, input: { text } })
    await child.event('text.read', { text })
    await child.complete({ text })
    expect(await child.input()).toEqual({ text })
    expect((await child.events()).items.map(({ data }) => JSON.stringify(data).length > 100_000)).toEqual([true, false])
    expect((await child.result()).value).toEqual({ text })
    await expectSound(store)
  })
})

const OUTCOMES = {
  completed: { state: 'completed', value: { pages: 12 }, control: { next: 'sum' } },
  failed: { state: 'failed', error: { name: 'TypeError', message: 'no', stack: expect.stringContaining('TypeError: no') } },
  cancelled: { state: 'cancelled', reason: 'enough' },
  abandoned: { state: 'abandoned', evidence: { writer: 'sweep', owner: 'w', fence: 7 } },
}
