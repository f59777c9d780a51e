// Every call that takes a session takes its key or its id.

import { describe, expect, test } from 'vitest'
import type { Store } from '../src/index.ts'
import { codeOf, engines } from './support/engines.ts'

const KEY = 'support/4711'

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** A session of which every feature that lists by session has something. */
async function furnished(store: Store, key: string) {
  const session = await store.session(key)
  await session.append('note.taken', { key }, { key: 'once' })
  await store.start('x', { session: key, parallel: true })
  const run = await session.run('r', { parallel: true })
  await run.usage({ source: 'llm', model: 'm', inputTokens: 3, outputTokens: key.length })
  await run.close()
  const { id } = await store.approvals.request({ subject: `pay/${key}`, session: key, data: { key } })
  await store.approvals.decide(id, { decision: 'approve', scope: 'session' })
  await session.canvas('plan').replace({ key })
  const process = { kind: 'k', recovery: 'external', wake: key, provenance: { session: key } } as const
  await store.processes.register(`p/${key}`, process)
  await store.processes.grant(`p/${key}`, key)
  await store.session(`${key}/child`, { relation: { kind: 'part', session: key } })
  return session
}

/** Every read that is narrowed by a session. */
const reads = (store: Store): Readonly<Record<string, (session: string) => Promise<unknown>>> => ({
  events: (session) => all(store.events({ session })),
  'events, backwards': (session) => all(store.events({ session, backwards: true })),
  page: async (session) => (await store.page({ session })).items,
  event: async (session) => (await store.event({ key: 'once', session })) ?? [],
  'runs.list': async (session) => (await store.runs.list({ session })).items,
  'runs.list, by state': async (session) => (await store.runs.list({ session, state: 'pending' })).items,
  usage: (session) => store.usage({ session }),
  'approvals.list': async (session) => (await store.approvals.list({ session })).items,
  'approvals.export': async (session) => (await all(store.approvals.export({ session }))).slice(0, -1),
  'approvals.permits.list': async (session) => (await store.approvals.permits.list({ session })).items,
  'canvases.list': async (session) => (await store.canvases.list({ session })).items,
  'processes.list': async (session) => (await store.processes.list({ session })).items,
  'processes.list, by whom they wake': async (wake) => (await store.processes.list({ wake })).items,
  'processes.grants': async (session) => (await store.processes.grants({ session })).items,
  'sessions.list, by parent': async (parent) => (await store.sessions.list({ parent })).items,
  'sessions.find': async (session) => (await store.sessions.find(session))?.toJSON() ?? [],
  'sessions.get': async (session) => (await store.sessions.get(session))?.toJSON() ?? [],
})

describe.each(engines)('$name', (engine) => {
  test('a read takes the key or the id of a session, and finds nothing under a key that no session has', async () => {
    const store = await engine.open()
    const session = await furnished(store, KEY)
    await furnished(store, 'other')
    for (const [name, read] of Object.entries(reads(store))) {
      const found = await read(KEY)
      expect(found, name).toEqual(await read(session.id))
      expect(found, name).not.toEqual([])
      expect(found, name).not.toEqual(await read('other'))
      expect(await read('support/47'), name).toEqual([])
    }
    expect(await codeOf(all(store.events({ session: 4711 as never })))).toBe('ID_INVALID')
  })

  test('a command takes the key or the id of a session, and refuses a key that no session has', async () => {
    const store = await engine.open()
    const { id } = await store.session(KEY)
    const other = await store.session('other')
    const process = await store.processes.register('p', { kind: 'k', recovery: 'external' })
    const commands: Readonly<Record<string, (session: string) => Promise<unknown>>> = {
      appendAll: (session) => store.appendAll([{ session, type: 'note.taken', data: 1 }]),
      signal: (session) => store.signal(session, 'go'),
      'approvals.request': (session) => store.approvals.request({ subject: 'pay', session }),
      'snapshots.save': (session) => store.snapshots.save(session, { state: 1 }),
      relation: (session) => store.session(`child of ${session}`, { relation: { kind: 'part', session } }),
      'processes.register, wake': (wake) => store.processes.register(`wakes ${wake}`, { kind: 'k', recovery: 'external', wake }),
      'processes.register, provenance': (session) =>
        store.processes.register(`of ${session}`, { kind: 'k', recovery: 'external', provenance: { session } }),
      'process.event': (wake) => process.event('a.b', 1, { wake }),
      'processes.grant': (session) => store.processes.grant('p', session),
      'processes.transfer': async (session) => {
        await store.processes.transfer(['p'], session, 'other')
        await store.processes.transfer(['p'], other.id, session)
      },
      'processes.leave': (session) => store.processes.leave(session),
    }
    for (const [name, command] of Object.entries(commands)) {
      for (const named of [KEY, id]) await expect(command(named), `${name} ${named}`).resolves.not.toThrow()
      const { seq } = await store.head()
      expect(await codeOf(command('support/47')), name).toBe('SESSION_UNKNOWN')
      expect((await store.head()).seq, name).toBe(seq)
    }
    expect(await all(store.events({ session: KEY, types: ['note.taken'] }))).toHaveLength(2)
    expect(await store.processes.revoke('p', KEY)).toBe(false)
  })

  test('opening and starting by an id go to that session, and create none', async () => {
    const store = await engine.open()
    const { id } = await store.session(KEY)
    const again = await store.session(id)
    expect([again.id, again.created]).toEqual([id, false])
    expect((await store.start('x', { session: id })).session).toBe(id)
    expect((await store.sessions.list()).items).toHaveLength(1)
  })

  test('a start without a session says so by name', async () => {
    const store = await engine.open()
    for (const options of [{}, undefined, { session: undefined }, { session: 4711 }]) {
      const start = async () => store.start('x', options as never)
      await expect(start()).rejects.toMatchObject({ code: 'OPTION_INVALID', details: { option: 'session' } })
      await expect(start()).rejects.toThrow('the key or the id of a session')
    }
  })

  test('a tail of a key that no session has yet begins with the first event of the session', async () => {
    const store = await engine.open()
    const seen: string[] = []
    const tailed = (async () => {
      for await (const event of store.events({ session: 'later', live: true, limit: 2 })) seen.push(event.type)
    })()
    await store.session('another')
    const session = await store.session('later')
    await session.append('note.taken', 1)
    await tailed
    expect(seen).toEqual(['session.opened', 'note.taken'])
    const left = store.events({ session: 'never', live: true })
    const next = left.next()
    await left.return()
    expect((await next).done).toBe(true)
  })

  test('a view that is limited to an owner finds nothing under the key of another', async () => {
    const store = await engine.open()
    const session = await store.session(KEY, { owner: 'grace' })
    await session.append('note.taken', 1)
    const ada = store.as('ada', { own: true })
    expect(await all(ada.events({ session: KEY }))).toEqual([])
    expect(await codeOf(ada.signal(KEY, 'go'))).toBe('SESSION_UNKNOWN')
    expect(await codeOf(ada.start('x', { session: session.id }))).toBe('SESSION_OWNED')
    expect(await codeOf(ada.session(session.id))).toBe('SESSION_OWNED')
    expect(await all(store.as('grace', { own: true }).events({ session: KEY }))).not.toEqual([])
  })
})
