// What a process says wakes a session: when, with what, once, and in the commit that records it. Where nobody is there to wake, it says so.

import { describe, expect, test } from 'vitest'
import type { AgentProcess, DeclaredEvent, Session } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const external = { kind: 'tool', recovery: 'external' } as const

/** What lies in the inbox, oldest first, as it was told. */
const inboxOf = async (session: Session) =>
  (await session.inbox.list()).items.map(({ payload }) => payload as { type: string; number: number; input: unknown }).reverse()

const inputsOf = async (session: Session) => (await inboxOf(session)).map(({ input }) => input)

describe.each(engines.filter(({ name }) => name !== 'sqlite folder'))('wake-ups on $name', (engine) => {
  const declared = async (spec: DeclaredEvent) => {
    const store = await engine.open()
    const session = await store.session('s')
    const child = await store.processes.register('c', { ...external, wake: session.id, events: { 'page.fetched': spec, 'page.lost': {} } })
    return { store, session, child }
  }

  test('an event that wakes and its wake-up are one commit', async () => {
    const { store, session, child } = await declared({ wake: true })
    const { seq } = await store.head()
    const told = await child.event('page.fetched', { url: 'a' }, { key: 'k' })
    expect(told.wake).toMatchObject({ offered: true, session: session.id })
    const written: string[] = []
    for await (const event of store.events({ after: seq })) written.push(event.type)
    expect(written).toEqual(['process-event.recorded', 'batch.offered'])
    expect((await session.inbox.list()).items).toMatchObject([
      {
        kind: 'turn',
        delivery: 'boundary',
        state: 'pending',
        payload: { process: 'c', id: child.id, number: 1, type: 'page.fetched', input: { url: 'a' } },
      },
    ])
    // Told again, it wakes nobody again, and says the same.
    expect((await child.event('page.fetched', { url: 'a' }, { key: 'k' })).wake).toEqual(told.wake)
    await child.event('page.lost', { url: 'b' })
    expect(await inboxOf(session)).toHaveLength(1)
    await expectSound(store)
  })

  test.each([
    ['nothing', { found: null }, false],
    ['false', { found: false }, false],
    ['an empty text', { found: '' }, false],
    ['an empty list', { found: [] }, false],
    ['an empty object', { found: {} }, false],
    ['a missing member', {}, false],
    ['zero', { found: 0 }, true],
    ['a number', { found: 3 }, true],
    ['true', { found: true }, true],
    ['a text', { found: 'x' }, true],
    ['a list', { found: [null] }, true],
  ] as const)('the selector `when` of a wake-up leads to %s', async (_, data, wakes) => {
    const { session, child } = await declared({ wake: { when: '/found' } })
    const told = await child.event('page.fetched', data)
    expect(told.wake?.offered ?? false).toBe(wakes)
    expect(await inboxOf(session)).toHaveLength(wakes ? 1 : 0)
  })

  test.each<[string, DeclaredEvent['wake'], unknown]>([
    ['the data, unless said', {}, { url: 'a', at: [7], 'a/b': 1 }],
    ['the data', { input: { payload: true } }, { url: 'a', at: [7], 'a/b': 1 }],
    ['a member', { input: { pointer: '/at/0' } }, 7],
    ['a member with a slash in its name', { input: { pointer: '/a~1b' } }, 1],
    ['null for what is not there', { input: { pointer: '/b' } }, null],
    ['a constant', { input: { const: { look: 'again' } } }, { look: 'again' }],
    ['whether something is there', { input: { present: '/url' } }, true],
    ['whether nothing is there', { input: { present: '/at/1' } }, false],
    ['a text with fields', { input: { template: '{url} at {at}{no}', fields: { url: '/url', at: '/at', no: '/no' } } }, 'a at [7]'],
  ])('the session is told %s', async (_, wake, input) => {
    const { session, child } = await declared({ wake: wake as NonNullable<typeof wake> })
    await child.event('page.fetched', { url: 'a', at: [7], 'a/b': 1 })
    expect(await inputsOf(session)).toEqual([input])
  })

  test('wake-ups that count as one are delivered once, each in its process', async () => {
    const { store, session, child } = await declared({ wake: { dedupe: { pointer: '/site' } } })
    const [first, again, other] = [
      await child.event('page.fetched', { site: 'x', n: 1 }),
      await child.event('page.fetched', { site: 'x', n: 2 }),
      await child.event('page.fetched', { site: 'y', n: 3 }),
    ]
    expect(again.wake).toEqual({ offered: false, session: session.id, id: first.wake?.id, why: 'repeated' })
    expect(other.wake?.offered).toBe(true)
    expect(await inputsOf(session)).toEqual([
      { site: 'x', n: 1 },
      { site: 'y', n: 3 },
    ])
    const wake = { dedupe: { const: 'once' } } as const
    const more = await store.processes.register('d', { ...external, wake: session.id, events: { 'page.fetched': { wake } } })
    for (let n = 1; n <= 3; n++) await more.event('page.fetched', { n })
    expect(await inputsOf(session)).toHaveLength(3)
    await expectSound(store)
  })

  test('two who speak at once wake once where that counts as one', async () => {
    const { session, child } = await declared({ wake: { dedupe: { const: 'once' } } })
    await Promise.all(Array.from({ length: 5 }, (_, n) => child.event('page.fetched', { n })))
    expect(await inboxOf(session)).toHaveLength(1)
  })

  test('the one who speaks may wake in any case, not at all, or another session', async () => {
    const { store, session, child } = await declared({ wake: { when: '/urgent' } })
    const other = await store.session('t')
    await child.event('page.fetched', { n: 1 }, { wake: true })
    await child.event('page.lost', { n: 2 }, { wake: true })
    await child.event('page.fetched', { urgent: true }, { wake: false })
    expect((await child.event('page.lost', { n: 3 }, { wake: other.id })).wake).toMatchObject({ session: other.id, offered: true })
    expect(await inputsOf(session)).toEqual([{ n: 1 }, { n: 2 }])
    expect(await inputsOf(other)).toEqual([{ n: 3 }])
    expect(await codeOf(child.event('page.lost', {}, { wake: 'nobody' }))).toBe('SESSION_UNKNOWN')
    await expectSound(store)
  })

  test('the end wakes, unless it was declared otherwise', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const silent = { 'process.completed': { wake: false } } as const
    const ends: readonly [string, (child: AgentProcess) => Promise<unknown>, object][] = [
      ['completed', (child) => child.complete({ pages: 12 }), {}],
      ['failed', (child) => child.fail(new Error('no')), {}],
      ['quiet', (child) => child.complete(1), { events: silent }],
      [
        'small',
        (child) => child.complete({ pages: 3 }),
        { events: { 'process.completed': { wake: { input: { pointer: '/value/pages' } } } } },
      ],
    ]
    for (const [name, end, options] of ends) await end(await store.processes.register(name, { ...external, wake: session.id, ...options }))
    expect(await inputsOf(session)).toEqual([{ value: { pages: 12 } }, { error: { name: 'Error', message: 'no' } }, 3])
    const alone = await store.processes.register('alone', external)
    expect((await alone.complete()).wake).toBeUndefined()
    await expectSound(store)
  })

  test('a declared type may end the process, and must have a key', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const events = {
      'crawl.done': { terminal: { state: 'completed', output: { pointer: '/pages' } } },
      'crawl.broke': { terminal: { state: 'failed', output: { pointer: '/why' } } },
      'crawl.left': { terminal: { state: 'cancelled', output: { const: 'left' } } },
    } as const
    const make = (name: string) => store.processes.register(name, { ...external, wake: session.id, events })
    const [done, broke, left] = [await make('a'), await make('b'), await make('c')]
    expect(await codeOf(done.event('crawl.done', { pages: 7 }))).toBe('OPTION_INVALID')
    const told = await done.event('crawl.done', { pages: 7 }, { key: 'k' })
    expect(await done.event('crawl.done', { pages: 7 }, { key: 'k' })).toEqual({ ...told, repeated: true })
    expect(await codeOf(done.event('crawl.done', { pages: 7 }, { key: 'l' }))).toBe('PROCESS_FINISHED')
    await broke.event('crawl.broke', { why: 'the site is gone' }, { key: 'k' })
    await left.event('crawl.left', {}, { key: 'k' })
    expect(await done.result()).toEqual({ state: 'completed', value: 7 })
    expect(await broke.result()).toEqual({ state: 'failed', error: { name: 'Error', message: 'the site is gone' } })
    expect(await left.result()).toEqual({ state: 'cancelled', reason: 'left' })
    expect((await inboxOf(session)).map(({ type }) => type)).toEqual(['crawl.done', 'crawl.broke', 'crawl.left'])
    await expectSound(store)
  })

  test('an event is recorded where there is nobody to wake, and says so', async () => {
    const { store, session, child } = await declared({ wake: true })
    const nobody = await store.processes.register('d', { ...external, events: { 'page.fetched': { wake: true } } })
    expect((await nobody.event('page.fetched', 1)).wake).toEqual({ offered: false, why: 'nobody' })
    await session.archive()
    expect((await child.event('page.fetched', 2)).wake).toMatchObject({ offered: false, why: 'archived', session: session.id })
    await session.reopen()
    expect((await child.event('page.fetched', 3)).wake).toMatchObject({ offered: true })
    const stray = '01ARZ3NDEKTSV4RRFFQ69G5FAV' as typeof session.id
    expect((await child.event('page.fetched', 4, { wake: stray })).wake).toMatchObject({ offered: false, why: 'unknown' })
    await session.delete({ reason: 'over' })
    expect((await child.event('page.fetched', 5)).wake).toEqual({ offered: false, why: 'deleted', session: session.id })
    expect((await child.event('page.fetched', 6, { wake: session.id })).wake).toMatchObject({ offered: false, why: 'deleted' })
    expect(await child.count()).toBe(5)
    expect((await child.complete()).wake).toEqual({ offered: false, why: 'deleted', session: session.id })
    // Registered with it, it is still the same process; a new one is not registered for a session that is gone.
    const events = { 'page.fetched': { wake: true }, 'page.lost': {} } as const
    expect((await store.processes.register('c', { ...external, wake: session.id, events })).id).toBe(child.id)
    expect(await codeOf(store.processes.register('e', { ...external, wake: session.id }))).toBe('SESSION_DELETED')
    expect(await codeOf(store.processes.register('e', { ...external, wake: stray }))).toBe('SESSION_UNKNOWN')
    await expectSound(store)
  })

  test('a session that is deleted while somebody speaks is not woken, and the event is there', async () => {
    const { store, session, child } = await declared({ wake: true })
    const [told] = await Promise.all([
      Promise.all(Array.from({ length: 10 }, (_, n) => child.event('page.fetched', { n }))),
      session.delete({ reason: 'over' }),
    ])
    expect(told.map(({ number }) => number).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(await codeOf(session.inbox.list({ state: 'pending' }))).toBe('SESSION_DELETED')
    await expectSound(store)
  })

  test('a declaration that cannot be meant is refused', async () => {
    const store = await engine.open()
    const { seq } = await store.head()
    const wrong: readonly unknown[] = [
      ['a'],
      ['a.b', 'a.b'],
      { 'a.b': { wake: { when: 'found' } } },
      { 'a.b': { wake: { input: {} } } },
      { 'a.b': { wake: { input: { pointer: '/~2' } } } },
      { 'a.b': { wake: { input: { template: '{x}', fields: {} } } } },
      { 'a.b': { wake: { delivery: 'soon' } } },
      { 'a.b': { terminal: 'failed' } },
      { 'a.b': { terminal: 'abandoned' } },
      { 'a.b': { needs: ['x'] } },
      { 'process.failed': { terminal: 'completed' } },
      'a.b',
    ]
    for (const events of wrong)
      expect(await codeOf(store.processes.register('c', { ...external, events: events as never }))).toMatch(/^(?:OPTION|TYPE)_INVALID$/)
    expect((await store.head()).seq).toBe(seq)
  })
})
