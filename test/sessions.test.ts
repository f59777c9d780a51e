// Sessions as their users hold them: owners, forks, deletion, and appends on behalf of a run.

import { describe, expect, test } from 'vitest'
import { memoryBackend } from '../src/backends/memory/backend.ts'
import { nodeEnvironment } from '../src/environment.ts'
import { open } from '../src/index.ts'
import { codeOf, expectSound, layouts } from './support/engines.ts'

describe.each(layouts)('sessions on $name', (engine) => {
  test('a session of another owner is refused, and one without an owner when an owner is named', async () => {
    const store = await engine.open()
    const first = await store.as('user-a').session('chat', { owner: 'user-a' })
    expect(await codeOf(store.as('user-b').session('chat', { owner: 'user-b' }))).toBe('SESSION_OWNED')
    const again = await store.as('user-a').session('chat', { owner: 'user-a' })
    expect(again.id).toBe(first.id)
    expect((await store.session('chat')).id).toBe(first.id)
    await store.session('open to all')
    await expect(store.session('open to all', { owner: 'user-b' })).rejects.toMatchObject({
      code: 'SESSION_OWNED',
      details: { ownerless: true },
      message: expect.stringContaining('belongs to nobody'),
    })
    await expectSound(store)
  })

  test('a session handle says whether its call created the session', async () => {
    const store = await engine.open()
    const first = await store.session('chat')
    expect(first.created).toBe(true)
    expect((await store.session('chat')).created).toBe(false)
    expect((await store.sessions.find('chat'))?.created).toBe(false)
    expect((await store.sessions.get(first.id))?.created).toBe(false)
    const { seq } = await store.head()
    expect((await first.fork({ at: seq, key: 'fork' })).created).toBe(true)
    expect((await first.fork({ at: seq, key: 'fork' })).created).toBe(false)
    const raced = await Promise.all(Array.from({ length: 5 }, () => store.session('raced')))
    expect(raced.filter(({ created }) => created)).toHaveLength(1)
    await expectSound(store)
  })

  test('metadata is replaced only if the session is at the expected revision', async () => {
    const store = await engine.open()
    const mine = await store.session('s')
    const theirs = await store.session('s')
    expect(theirs.revision).toBe(mine.revision)
    await mine.append('a.b', 1)
    await mine.describe({ by: 'me' }, { expect: mine.revision })
    const refused = theirs.describe({ by: 'them' }, { expect: theirs.revision })
    await expect(refused).rejects.toMatchObject({
      code: 'SESSION_CHANGED',
      kind: 'conflict',
      details: { session: mine.id, expect: theirs.revision, found: mine.revision },
    })
    const again = await store.sessions.get(mine.id)
    expect(again).toMatchObject({ metadata: { by: 'me' }, revision: mine.revision })
    const both = [1, 2].map((n) => again?.describe({ n }, { expect: mine.revision }))
    expect((await Promise.allSettled(both)).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await theirs.describe({ by: 'anyone' })
    expect(await codeOf(mine.describe({}, { expect: -1 }))).toBe('RANGE_INVALID')
    await mine.delete({ reason: 'r' })
    expect(await codeOf(mine.describe({}, { expect: mine.revision }))).toBe('SESSION_DELETED')
    expect(await store.rebuild({ check: true })).toMatchObject({ differences: [] })
    await expectSound(store)
  })

  test('a session that has been forked is a source, however often it was forked', async () => {
    const store = await engine.open()
    const parent = await store.session('parent')
    const { seq } = await parent.append('a.b', 1)
    const [one, two] = await Promise.all([parent.fork({ at: seq, key: 'one' }), parent.fork({ at: seq, key: 'two' })])
    expect([one.branch, two.branch]).toEqual(['branch', 'branch'])
    expect([parent.branch, (await store.session('parent')).branch]).toEqual(['source', 'source'])
    await parent.describe({ forked: true }, { expect: parent.revision })
    const grandchild = await one.fork({ at: seq })
    expect(grandchild.branch).toBe('branch')
    expect((await store.session('one')).branch).toBe('source')
    const told: string[] = []
    for await (const { type } of store.events({ types: ['session.forked'] })) told.push(type)
    expect(told).toHaveLength(2)
    expect(await store.rebuild({ check: true })).toMatchObject({ differences: [] })
    await expectSound(store)
  })

  test('sessions are listed by branch state, relation and parent, page by page', async () => {
    const store = await engine.open()
    const parent = await store.session('parent', { owner: 'ada' })
    const { seq } = await parent.append('a.b', 1)
    for (const key of ['one', 'two', 'three']) await parent.fork({ at: seq, key })
    await store.session('alone')
    await store.session('note', { relation: { kind: 'about', session: parent.id } })
    await (await store.session('two')).archive()
    await (await store.session('three')).fork({ at: seq, key: 'grandchild' })
    const keys = async (options: Parameters<typeof store.sessions.list>[0]) => {
      const found: (string | undefined)[] = []
      for (let cursor: string | undefined; ; ) {
        const page = await store.sessions.list({ ...options, last: 2, ...(cursor !== undefined && { cursor }) })
        found.push(...page.items.map(({ key }) => key))
        if (page.cursor === undefined) return found
        cursor = page.cursor
      }
    }
    expect(await keys({ branch: 'root' })).toEqual(['note', 'alone'])
    expect(await keys({ branch: 'source' })).toEqual(['three', 'parent'])
    expect(await keys({ branch: 'branch' })).toEqual(['grandchild', 'two', 'one'])
    expect(await keys({ relation: 'fork' })).toEqual(['grandchild', 'three', 'two', 'one'])
    expect(await keys({ parent: parent.id })).toEqual(['note', 'three', 'two', 'one'])
    expect(await keys({ parent: parent.id, relation: 'fork', state: 'open' })).toEqual(['three', 'one'])
    expect(await keys({ owner: 'ada', branch: 'branch' })).toEqual(['grandchild', 'two', 'one'])
    const { items } = await store.sessions.list({ parent: parent.id, first: 2 })
    expect(items.map(({ key }) => key)).toEqual(['one', 'two'])
    expect(await codeOf(store.sessions.list({ branch: 'twig' as never }))).toBe('RANGE_INVALID')
    expect(await codeOf(store.sessions.list({ relation: '' }))).toBe('OPTION_INVALID')
    expect(await codeOf(store.sessions.list({ parent: 5 as never }))).toBe('ID_INVALID')
    expect(await store.rebuild({ check: true })).toMatchObject({ differences: [] })
    await expectSound(store)
  })

  test('an append after a seq that does not exist yet is refused', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const { seq } = await session.append('a.b', 1)
    expect(await codeOf(session.append('a.b', 2, { after: 999_999 }))).toBe('RANGE_INVALID')
    expect(await codeOf(session.append('a.b', 2, { after: seq + 1 }))).toBe('RANGE_INVALID')
    expect((await store.head()).seq).toBe(seq)
    await session.append('a.b', 2, { after: seq })
    await expectSound(store)
  })

  test('an event can be appended for a run of the session that has not ended, and for no other', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const other = await store.session('other')
    await using run = await session.run('r')
    await using foreign = await other.run('r')
    await using ended = await session.run('ended', { parallel: true })
    await ended.finish()
    const { seq } = await store.head()
    const unknown = '01ARZ3NDEKTSV4RRFFQ69G5FAV'
    expect(await codeOf(session.append('a.b', 1, { run: unknown }))).toBe('RUN_UNKNOWN')
    const refused = session.append('a.b', 1, { run: foreign.id })
    await expect(refused).rejects.toMatchObject({ code: 'RUN_UNKNOWN', message: expect.stringContaining(`in session ${session.id}`) })
    expect(await codeOf(session.append('a.b', 1, { run: ended.id }))).toBe('RUN_FINISHED')
    expect(await codeOf(store.appendAll([{ type: 'a.b', data: 1, session: session.id, run: foreign.id }]))).toBe('RUN_UNKNOWN')
    expect((await store.head()).seq).toBe(seq)
    expect(await session.append('a.b', 1, { run: run.id })).toMatchObject({ seq: seq + 1 })
    await expectSound(store)
  })

  test('deleting a session reports the processes it leaves behind', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await store.processes.register('crawl', { kind: 'k', recovery: 'external' })
    await store.processes.grant('crawl', session.id)
    const report = await session.delete({ reason: 'gone' })
    expect(report).toMatchObject({ processes: { revoked: 1, orphaned: ['crawl'], kept: ['crawl'] } })
    expect(report.erased).toBeGreaterThan(0)
    await expectSound(store)
  })

  test('ids are plain texts wherever something is looked up by them, and other texts are refused', async () => {
    const store = await engine.open()
    const opened = await store.session('s')
    await using run = await opened.run('r')
    const [session, ofRun]: readonly [string, string] = [opened.id, run.id]
    const { id: cause }: { readonly id: string } = await opened.append('a.b', 1, { run: ofRun })
    await store.appendAll([{ session, type: 'a.b', data: 2, run: ofRun, cause }])
    expect((await store.page({ session, run: ofRun, types: ['a.b'] })).items).toHaveLength(2)
    expect((await store.page({ subject: session })).items).toMatchObject([{ type: 'session.opened' }])
    expect((await store.runs.list({ session })).items).toMatchObject([{ id: ofRun }])
    expect(await opened.input('hi', { turn: ofRun })).toMatchObject({ run: ofRun })
    await store.processes.register('p', { kind: 'k', recovery: 'external', wake: session, provenance: { session, run: ofRun, cause } })
    await store.processes.grant('p', session)
    expect((await store.processes.grants({ session })).items).toMatchObject([{ name: 'p' }])
    expect((await store.processes.list({ wake: session })).items).toMatchObject([{ provenance: { session, run: ofRun, cause } }])
    expect(await store.approvals.list({ session, run: ofRun })).toEqual({ items: [] })
    expect((await store.session('t', { relation: { kind: 'about', session } })).relation).toEqual({ kind: 'about', session })
    for (const wrong of [store.runs.list({ session: 5 as never }), store.runs.list({ parent: 'x' }), store.page({ run: 'x' })])
      expect(await codeOf(wrong)).toBe('ID_INVALID')
    await expectSound(store)
  })

  test('a refusal names the wrong option or value in the words of the caller', async () => {
    const store = await engine.open()
    const owner = { code: 'OPTION_INVALID', message: expect.stringMatching(/^Invalid option "owner": expected an opaque id of 1 to 64/) }
    await expect(store.session('s', { owner: 'Ada Lovelace' })).rejects.toMatchObject(owner)
    await expect(store.sessions.list({ owner: 'Ada Lovelace' })).rejects.toMatchObject(owner)
    const id = { code: 'ID_INVALID', message: expect.stringContaining('expected an id, got an object') }
    await expect(store.queue('q').get({ key: 'k' } as never)).rejects.toMatchObject(id)
    const named = { code: 'ID_INVALID', message: expect.stringContaining('expected the key or the id of a session, got an object') }
    await expect(store.sessions.get(Object.create(null))).rejects.toMatchObject(named)
    const walled = store.tenant('acme').setTenantState('other', 'suspended', { reason: 'r' })
    await expect(walled).rejects.toThrow('Nothing was read or written.')
    await expectSound(store)
  })

  test('usage with a misspelt counter is refused, and a run whose usage overflowed can finish', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await using run = await session.run('r')
    expect(await codeOf(run.usage({ model: 'm', outputToken: 900 } as never))).toBe('USAGE_INVALID')
    await run.usage({ model: 'm', inputTokens: Number.MAX_SAFE_INTEGER })
    expect(await codeOf(run.usage({ model: 'm', inputTokens: 1 }))).toBe('USAGE_INVALID')
    await run.effect('after', () => 1)
    await run.close()
    // Replay meets the same refusal and goes on behind it.
    await using again = await session.run('r')
    await again.usage({ model: 'm', inputTokens: Number.MAX_SAFE_INTEGER })
    expect(await codeOf(again.usage({ model: 'm', inputTokens: 1 }))).toBe('USAGE_INVALID')
    expect(await again.effect('after', () => 2)).toBe(1)
    await again.finish('done')
    expect(again.ledger).toMatchObject([{ inputTokens: Number.MAX_SAFE_INTEGER }])
    expect(await store.rebuild({ check: true })).toMatchObject({ differences: [] })
    await expectSound(store)
  })

  test('a key that comes again with another kind or boundary is refused', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await session.inbox.offer('p', { kind: 'turn', delivery: 'boundary', key: 'k' })
    expect(await codeOf(session.inbox.offer('p', { kind: 'command', delivery: 'boundary', key: 'k' }))).toBe('KEY_REUSED')
    expect(await session.inbox.offer('p', { kind: 'turn', delivery: 'boundary', key: 'k' })).toMatchObject({ repeated: true })
    await session.input('hi', { key: 'k', boundary: 'afterWork' })
    expect(await codeOf(session.input('hi', { key: 'k', boundary: 'beforeCompletion' }))).toBe('KEY_REUSED')
    expect(await session.input('hi', { key: 'k', boundary: 'afterWork' })).toMatchObject({ repeated: true })
    await expectSound(store)
  })
})

test('a session whose creation was saved without an answer counts as created by that call', async () => {
  const real = memoryBackend(nodeEnvironment)
  let answers = false
  const backend = {
    ...real,
    commit: async (batch: Parameters<typeof real.commit>[0]) => {
      const outcomes = await real.commit(batch)
      if (answers) return outcomes
      throw new Error('the connection broke before the reply came')
    },
  }
  await using store = await open({ backend, logger: { warn: () => {} } })
  expect((await store.session('chat')).created).toBe(true)
  answers = true
  expect((await store.session('chat')).created).toBe(false)
})
