// The list of sessions: what it shows, its cursors, what it costs, and views that are limited to an owner.

import { describe, expect, test } from 'vitest'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { open as openStore, type Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { codeOf, engines, expectSound, later } from '../support/engines.ts'
import { rounds } from '../support/rounds.ts'

const keys = (page: { readonly items: readonly { readonly key?: string | undefined }[] }) => page.items.map(({ key }) => key)

describe.each(engines)('the list of sessions on $name', ({ open }) => {
  test('a session is listed with its first message, counts, times and the state of its last run', async () => {
    const store = await open()
    const session = await store.session('chat', { owner: 'ada' })
    await session.configure({ cwd: '/work', model: 'big' })
    await session.commitTurn({
      turn: 't',
      nodes: [
        { id: 'a', parent: null, payload: { role: 'user', content: 'How do I ship?' } },
        { id: 'b', parent: 'a', payload: { role: 'assistant', content: 'Test first.' } },
        { id: 'c', parent: 'b', payload: { tool: 'state' } },
      ],
    })
    const run = await session.run('turn')
    const threaded = await store.session('threaded')
    await threaded.thread.add({ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hello there' }] })
    const said = (id: string, role: string) => ({ id, role, parts: [{ type: 'text', text: `said in ${id}` }] })
    for (let i = 0; i < 5; i++) await threaded.thread.add([said(`q${i}`, 'user'), said(`a${i}`, 'assistant')])
    await threaded.thread.remove('a4')
    const { lastAt } = (await threaded.thread.info()) ?? {}
    const { items } = await store.sessions.list({ last: 10, summary: true })
    expect(items).toHaveLength(2)
    expect(items[1]).toMatchObject({
      key: 'chat',
      title: 'How do I ship?',
      firstMessage: 'How do I ship?',
      preview: 'Test first.',
      cwd: '/work',
      model: 'big',
      counts: { turns: 1, nodes: 3, messages: 2 },
      lastRun: { id: run.id, name: 'turn', state: 'running' },
    })
    expect(items[1]?.activeAt).toBeGreaterThanOrEqual(items[1]?.openedAt ?? 0)
    expect(items[0]).toMatchObject({
      key: 'threaded',
      title: 'Hello there',
      firstMessage: 'Hello there',
      preview: 'said in q4',
      intent: 'said in q4',
      // The one that was removed is still stored.
      counts: { turns: 0, nodes: 0, messages: 11 },
    })
    expect(items[0]?.activeAt).toBeGreaterThanOrEqual(lastAt ?? 0)
    // Without the summary, the rows as they are stored.
    expect((await store.sessions.list({ text: 'ship' })).items).toEqual([session.toJSON()])
    expect(await codeOf(store.sessions.list({ summary: 1 as never }))).toBe('OPTION_INVALID')
    await run.finish(1)
    expect((await store.sessions.list({ owner: 'ada', state: 'open', summary: true })).items).toMatchObject([
      { lastRun: { state: 'done' } },
    ])
    await expectSound(store)
  })

  test('messages are counted however they were added: in threads, turns, streams, batches and forks, at once and again', async () => {
    const store = await open()
    const session = await store.session('s')
    const said = (id: string, role = 'user') => ({ id, role, parts: [{ type: 'text', text: `said in ${id}` }] })
    const counted = async (key = 's') =>
      (await store.sessions.list({ summary: true })).items.find((one) => one.key === key)?.counts.messages
    expect(await counted()).toBe(0)
    let expected = 0
    const add = async (...ids: readonly string[]) => {
      await session.thread.add(ids.map((id) => said(id)))
      expected += ids.length
    }
    // A message that is stored again is none more, also where a tally was due.
    for (let i = 0; i < 20; i++) {
      await add(`m${i}`)
      await session.thread.add(said('m0'))
      expect(await counted()).toBe(expected)
    }
    await Promise.all(Array.from({ length: 40 }, (_, i) => add(`at-once-${i}`)))
    expect(await counted()).toBe(expected)
    await add(...Array.from({ length: 50 }, (_, i) => `batch-${i}`))
    await session.commitTurn({ turn: 't', messages: [said('turn-1'), said('turn-2', 'assistant'), said('m1')] })
    expected += 2
    {
      await using stream = session.thread.stream('streamed')
      for (const chunk of [
        { type: 'text-start', id: '0' },
        { type: 'text-delta', id: '0', delta: 'x' },
      ])
        await stream.write(chunk)
    }
    expected++
    expect(await counted()).toBe(expected)
    // A message of another thread is not in the default one.
    await (await session.threads.create()).add(said('aside'))
    // Hidden and erased messages are still stored, also those that hold a tally.
    await session.thread.remove('m3')
    for (let i = 0; i < 20; i++) await session.thread.erase(`at-once-${i}`, { reason: 'r' })
    expect(await counted()).toBe(expected)
    const { seq: at } = await store.head()
    await add('after')
    const fork = await session.fork({ at, key: 'fork' })
    // What was erased is not in the fork.
    expect(await counted('fork')).toBe(expected - 21)
    for (let i = 0; i < 20; i++) await fork.thread.add(said(`f${i}`))
    expect(await counted('fork')).toBe(expected - 1)
    expect(await counted()).toBe(expected)
    await expectSound(store)
  })

  test('a list is searched for words in title, messages and intent, with its filters and cursors', async () => {
    const store = await open()
    const talk = async (key: string, text: string, options = {}) => {
      const session = await store.session(key, options)
      await session.commitTurn({ turn: key, nodes: [{ id: key, parent: null, payload: { role: 'user', content: text } }] })
      return session
    }
    await talk('ship', 'How do I ship the release to Zürich?', { owner: 'ada' })
    await talk('paint', 'Paint the house', { owner: 'ada' })
    const titled = await talk('titled', 'Something else', { owner: 'bob' })
    await titled.rename('Shipping costs')
    const meant = await talk('meant', 'Hm', { owner: 'bob' })
    await meant.configure({ intent: 'find a ship' })
    await (await store.session('threaded')).thread.add({ id: 'm', role: 'user', parts: [{ type: 'text', text: 'ships of 東京都' }] })
    await store.session('empty')
    const find = async (text: string, more = {}) => keys(await store.sessions.list({ text, ...more }))
    expect(await find('ships')).toEqual(['threaded', 'meant', 'titled', 'ship'])
    expect(await find('SHIPPED zurich')).toEqual(['ship'])
    expect(await find('ship', { owner: 'bob', state: 'open' })).toEqual(['meant', 'titled'])
    expect(await find('rele')).toEqual(['ship'])
    expect(await find('東京')).toEqual(['threaded'])
    expect(await find('ship house')).toEqual([])
    expect(await find('"*(')).toEqual([])
    const page = await store.sessions.list({ text: 'ship', last: 3 })
    expect(keys(page)).toEqual(['threaded', 'meant', 'titled'])
    expect(keys(await store.sessions.list({ text: 'ship', last: 3, cursor: page.cursor as string }))).toEqual(['ship'])
    expect(await codeOf(store.sessions.list({ text: ' ' }))).toBe('OPTION_INVALID')
    expect(await codeOf(store.sessions.list({ text: 7 as never }))).toBe('OPTION_INVALID')
  })

  test('a list is paged in both directions, also with a filter', async () => {
    const store = await open()
    for (let i = 0; i < 10; i++) await store.session(`s${i}`, { owner: i % 2 === 0 ? 'ada' : 'bob' })
    await (await store.session('s4')).archive()
    const walk = async (options: object) => {
      const pages: (readonly (string | undefined)[])[] = []
      let page = await store.sessions.list(options)
      expect(page.previous).toBeUndefined()
      for (pages.push(keys(page)); page.cursor !== undefined; pages.push(keys(page)))
        page = await store.sessions.list({ ...options, cursor: page.cursor })
      const back: (readonly (string | undefined)[])[] = [keys(page)]
      for (; page.previous !== undefined; back.unshift(keys(page))) page = await store.sessions.list({ ...options, cursor: page.previous })
      expect(back.filter((one) => one.length > 0)).toEqual(pages)
      return pages
    }
    expect(await walk({ last: 4 })).toEqual([
      ['s9', 's8', 's7', 's6'],
      ['s5', 's4', 's3', 's2'],
      ['s1', 's0'],
    ])
    expect((await walk({ first: 5 })).flat()).toEqual(Array.from({ length: 10 }, (_, i) => `s${i}`))
    expect(await walk({ last: 2, owner: 'ada', state: 'open' })).toEqual([
      ['s8', 's6'],
      ['s2', 's0'],
    ])
    expect(await walk({ last: 3, state: 'open', branch: 'root' })).toHaveLength(3)
    expect(await codeOf(store.sessions.list({ cursor: '<nonsense' }))).toBe('CURSOR_INVALID')
    expect(await codeOf(store.sessions.list({ cursor: 7 as never }))).toBe('OPTION_INVALID')
    expect(await codeOf(store.sessions.list({ first: 1, last: 1 }))).toBe('OPTION_INVALID')
  })

  test('a view of an owner lists, finds, gets and opens only sessions of that owner; a plain view sees all', async () => {
    const store = await open()
    const theirs = await store.session('theirs', { owner: 'bob' })
    const nobodys = await store.session('nobodys')
    const mine = store.as('ada', { own: true })
    const own = await mine.session('own')
    expect(own.owner).toBe('ada')
    expect(keys(await mine.sessions.list())).toEqual(['own'])
    expect(keys(await mine.sessions.list({ owner: 'bob' }))).toEqual([])
    expect(keys(await mine.sessions.list({ owner: 'ada', state: 'open' }))).toEqual(['own'])
    for (const { id, key = '' } of [theirs, nobodys]) {
      expect(await mine.sessions.find(key)).toBeUndefined()
      expect(await mine.sessions.get(id)).toBeUndefined()
      expect(await codeOf(mine.session(key))).toBe('SESSION_OWNED')
      expect(await codeOf(mine.start('x', { session: key }))).not.toBe('no error')
    }
    expect((await mine.sessions.find('own'))?.id).toBe(own.id)
    expect((await mine.sessions.get(own.id))?.key).toBe('own')
    expect(await codeOf(mine.session('new', { owner: 'bob' }))).toBe('SESSION_OWNED')
    await theirs.thread.add({ id: 'm', role: 'user', parts: [{ type: 'text', text: 'private' }] })
    await own.thread.add({ id: 'm', role: 'user', parts: [{ type: 'text', text: 'mine' }] })
    expect((await mine.threads.list()).items.map(({ session }) => session)).toEqual([own.id])
    expect((await mine.threads.list({ user: 'bob' })).items).toEqual([])
    expect(await mine.threads.get(theirs.thread.id)).toBeUndefined()
    expect((await mine.threads.get(own.thread.id))?.id).toBe(own.thread.id)
    expect((await store.as('ada').threads.list()).items).toHaveLength(2)
    // The limit stays when the actor changes, and another owner is refused.
    expect(keys(await mine.as('bob').sessions.list())).toEqual(['own'])
    expect(() => mine.as('bob', { own: true })).toThrow(expect.objectContaining({ code: 'OWNER_WALL' }))
    const fork = await own.fork({ at: (await store.head()).seq })
    expect((await mine.sessions.get(fork.id))?.owner).toBe('ada')
    expect(keys(await store.as('ada').sessions.list())).toHaveLength(4)
    expect((await store.as('ada').session('theirs')).id).toBe(theirs.id)
    await expectSound(store)
  })
})

/** Counts the rows that a backend returns. */
function counted(backend: Backend): { readonly backend: Backend; readonly rows: () => number } {
  let rows = 0
  const reads: Backend['rows'] = {
    get: (...given) => backend.rows.get(...given).finally(() => rows++),
    getMany: (tenant, keys) => Promise.all(keys.map(({ table, id }) => reads.get(tenant, table, id))),
    list: async (...given) => {
      const page = await backend.rows.list(...given)
      rows += Math.max(page.rows.length, 1)
      return page
    },
  }
  return { backend: { ...backend, rows: reads }, rows: () => rows }
}

test('a page of sessions reads as many rows among many sessions as among few', async () => {
  const { backend, rows } = counted(handleTo(freshMemory(Date.now)))
  const store: Store = await openStore({ backend })
  later(() => store.close())
  const cost = async (options: object) => {
    const before = rows()
    expect((await store.sessions.list(options)).items).toHaveLength(20)
    return rows() - before
  }
  const make = async (from: number, to: number) => {
    for (let at = from; at < to; at += 50)
      await Promise.all(Array.from({ length: 50 }, (_, i) => store.session(`s${at + i}`, { owner: (at + i) % 2 === 0 ? 'ada' : 'bob' })))
  }
  await make(0, 100)
  const few = [await cost({ last: 20 }), await cost({ last: 20, owner: 'ada' }), await cost({ last: 20, owner: 'ada', state: 'open' })]
  await make(100, rounds(400, 100_000))
  const many = [await cost({ last: 20 }), await cost({ last: 20, owner: 'ada' }), await cost({ last: 20, owner: 'ada', state: 'open' })]
  for (const [i, more] of many.entries()) expect(more).toBeLessThanOrEqual((few[i] ?? 0) * 1.3)
  // A page without summaries reads its own rows only.
  expect(many).toEqual([20, 20, 20])
  expect(await cost({ last: 20, summary: true })).toBeGreaterThan(40)
  // The control: a filter without an index reads more.
  const before = rows()
  await store.sessions.list({ last: 20, branch: 'root', state: 'archived' })
  expect(rows() - before).toBeGreaterThan((many[0] ?? 0) * 1.3)
})

test('messages are counted in few rows, however long the conversation is and however many processes write to it', async () => {
  const kept = freshMemory()
  let rows = 0
  const around = (backend: Backend): Backend => ({
    ...backend,
    rows: {
      ...backend.rows,
      list: async (tenant, table, query) => {
        const page = await backend.rows.list(tenant, table, query)
        if (table === 'messages') rows += page.rows.length
        return page
      },
    },
  })
  const another = async () => {
    const store = await openStore({ backend: around(handleTo(kept)) })
    later(() => store.close())
    return store
  }
  const said = (id: string) => ({ id, role: 'user', parts: [{ type: 'text', text: id }] })
  const reader = await another()
  const cost = async () => {
    rows = 0
    const { items } = await reader.sessions.list({ summary: true })
    return { rows, messages: items[0]?.counts.messages }
  }
  const writers = await Promise.all([another(), another(), another()])
  const threads = await Promise.all(writers.map(async (store) => (await store.session('s')).thread))
  let most = 0
  for (let i = 0; i < 400; i++) {
    // One of them writes alone for a while, then they take turns.
    await threads[i % 200 < 100 ? 0 : i % 3]?.add(said(`m${i}`))
    const { rows: read, messages } = await cost()
    expect(messages).toBe(i + 1)
    most = Math.max(most, read)
  }
  expect(most).toBeLessThanOrEqual(4 * 17 + 1)
  // A process that writes one message and ends.
  for (let i = 0; i < 20; i++) await (await (await another()).session('s')).thread.add(said(`once${i}`))
  expect(await cost()).toEqual({ rows: 18, messages: 420 })
  const from = await reader.session('s')
  await from.fork({ at: (await reader.head()).seq, key: 'fork' })
  expect(await cost()).toEqual({ rows: 36, messages: 420 })
})
