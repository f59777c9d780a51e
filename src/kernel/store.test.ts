// The lines under *open* and *journal* of the API page, tried as written, on every engine.

import { describe, expect, test } from 'vitest'
import { codeOf, expectSound, layouts } from '../../test/support/engines.ts'
import type { Event } from '../index.ts'

const collect = async (events: AsyncIterable<Event>): Promise<Event[]> => {
  const all: Event[] = []
  for await (const e of events) all.push(e)
  return all
}

describe.each(layouts)('on $name', (engine) => {
  test('a session is opened by its key or created, and found without being created', async () => {
    const store = await engine.open()
    expect(await store.sessions.find('support/4711')).toBeUndefined()
    const session = await store.session('support/4711', { title: 'Order 4711', owner: 'user_1', metadata: { a: 1 } })
    const again = await store.session('support/4711', { title: 'ignored' })
    expect(again.id).toBe(session.id)
    expect(again.title).toBe('Order 4711')
    expect((await store.sessions.find('support/4711'))?.id).toBe(session.id)
    expect((await store.sessions.get(session.id))?.key).toBe('support/4711')
    expect(session).toMatchObject({ status: 'open', branch: 'root', owner: 'user_1', metadata: { a: 1 } })
    await expectSound(store)
  })

  test('two who open the same key at once get the same session', async () => {
    const store = await engine.open()
    const sessions = await Promise.all(Array.from({ length: 20 }, () => store.session('k')))
    expect(new Set(sessions.map((s) => s.id)).size).toBe(1)
    expect((await collect(store.events({ types: ['session.opened'] }))).length).toBe(1)
  })

  test('an append is acknowledged with its place, and read back as it was written', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const data = { steps: 3, text: 'ä漢😀\u2028', nested: { z: 1, a: [null, true, 1.5] } }
    const receipt = await session.append('plan.changed', data)
    expect(receipt).toEqual({ id: expect.any(String), seq: 2, hash: expect.stringMatching(/^[0-9a-f]{64}$/), tenant: 'main' })
    const [event] = await collect(store.events({ after: 1 }))
    expect(event).toMatchObject({ seq: 2, id: receipt.id, hash: receipt.hash, type: 'plan.changed', session: session.id, schema: 1 })
    expect(JSON.stringify(event?.data)).toBe(JSON.stringify(data))
  })

  test('an append after a seq is refused when someone wrote to that session first', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const other = await store.session('t')
    const receipt = await session.append('plan.changed', { steps: 3 })
    await other.append('plan.changed', { steps: 9 })
    await session.append('plan.changed', { steps: 4 }, { after: receipt.seq })
    const head = await store.head()
    await expect(session.append('plan.changed', { steps: 5 }, { after: receipt.seq })).rejects.toMatchObject({
      code: 'HEAD_MOVED',
      kind: 'conflict',
      details: { after: receipt.seq, found: 5 },
    })
    expect(await store.head()).toEqual(head)
  })

  test('the same key with the same body gives the same receipt, with another body it is refused', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const first = await session.append('plan.changed', { steps: 5, a: 1 }, { key: 'req-81' })
    expect(await session.append('plan.changed', { a: 1, steps: 5 }, { key: 'req-81' })).toEqual(first)
    expect(await codeOf(session.append('plan.changed', { steps: 6 }, { key: 'req-81' }))).toBe('KEY_REUSED')
    expect(await codeOf(session.append('plan.moved', { steps: 5, a: 1 }, { key: 'req-81' }))).toBe('KEY_REUSED')
    const elsewhere = await (await store.session('t')).append('plan.changed', { steps: 6 }, { key: 'req-81' })
    expect(elsewhere.seq).toBeGreaterThan(first.seq)
    expect(await codeOf(session.append('plan.changed', { steps: 5, a: 1 }, { key: 'req-81', transient: true }))).toBe('KEY_REUSED')
    expect(await codeOf(session.append('plan.changed', { steps: 5, a: 1 }, { key: 'req-81', cause: first.id }))).toBe('KEY_REUSED')
    await session.archive()
    expect(await session.append('plan.changed', { steps: 5, a: 1 }, { key: 'req-81' })).toEqual(first)
    expect(await codeOf(session.append('plan.changed', { steps: 7 }, { key: 'req-82' }))).toBe('SESSION_ARCHIVED')
    await store.erase({ seq: first.seq, reason: 'test' })
    await expect(session.append('plan.changed', { steps: 5, a: 1 }, { key: 'req-81' })).rejects.toMatchObject({ details: { erased: true } })
    await expectSound(store)
  })

  test('verify lists every erasure with its actor, time and reason', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const { seq } = await session.append('a.b', { n: 1 })
    expect(await store.verify()).toMatchObject({ erasures: [], erasureCount: 0, backwardTimes: [] })
    const { receipts } = await store.as('clerk').erase({ seq, reason: 'order 7' })
    const listed = { seq: receipts[0]?.seq, at: expect.any(Number), actor: 'clerk', reason: 'order 7', erased: 1 }
    expect(await store.verify()).toMatchObject({ intact: true, erasures: [listed], erasureCount: 1 })
  })

  test('a key used by two callers at once is written once', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const receipts = await Promise.all(Array.from({ length: 32 }, () => session.append('a.b', { n: 1 }, { key: 'k' })))
    expect(new Set(receipts.map((r) => r.seq)).size).toBe(1)
    expect((await collect(store.events({ types: ['a.b'] }))).length).toBe(1)
  })

  test('appendAll is all or nothing and contiguous', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const busy = Promise.all(Array.from({ length: 50 }, (_, i) => session.append('noise.made', i)))
    const receipts = await store.appendAll([
      { session: session.id, type: 'a.b', data: 1 },
      { session: session.id, type: 'a.c', data: 2 },
      { type: 'a.d', data: 3 },
    ])
    await busy
    expect(receipts.map((r) => r.seq - (receipts[0]?.seq ?? 0))).toEqual([0, 1, 2])
    const head = await store.head()
    for (const bad of [Number.NaN, undefined, 1n, new Map()]) {
      expect(
        await codeOf(
          store.appendAll([
            { type: 'a.b', data: 1 },
            { type: 'a.b', data: bad },
          ]),
        ),
      ).toBe('DATA_INVALID')
    }
    expect(await codeOf(store.appendAll([]))).toBe('COMMIT_EMPTY')
    expect(await store.head()).toEqual(head)
    expect(await store.appendAll([{ type: 'x.y', data: 1 }], { key: 'b' })).toEqual(
      await store.appendAll([{ type: 'x.y', data: 1 }], { key: 'b' }),
    )
  })

  test('bad input is refused with a typed error and the head stays where it was', async () => {
    const store = await engine.open({ payloadBytes: 1000 })
    const session = await store.session('s')
    const head = await store.head()
    const tries: readonly [Promise<unknown>, string][] = [
      [session.append('Plan.Changed', 1), 'TYPE_INVALID'],
      [session.append('plan', 1), 'TYPE_INVALID'],
      [session.append(`a.${'b'.repeat(130)}`, 1), 'TYPE_INVALID'],
      [session.append('session.opened', {}), 'TYPE_RESERVED'],
      [session.append('payload.erased', {}), 'TYPE_RESERVED'],
      [session.append('run.imagined', {}), 'TYPE_RESERVED'],
      [session.append('memory.noted', {}), 'TYPE_RESERVED'],
      [store.appendAll([{ type: 'token.bought', data: {} }]), 'TYPE_RESERVED'],
      [session.append('a.b', undefined), 'DATA_INVALID'],
      [session.append('a.b', 'x'.repeat(1000)), 'DATA_TOO_LARGE'],
      [session.append('a.b', 'é'.repeat(500)), 'DATA_TOO_LARGE'],
      [session.append('a.b', 1, { key: '' }), 'KEY_INVALID'],
      [session.append('a.b', 1, { key: 'x'.repeat(600) }), 'KEY_INVALID'],
      [session.append('a.b', 1, { after: -1 }), 'RANGE_INVALID'],
      [session.append('a.b', 1, { after: 1.5 }), 'RANGE_INVALID'],
      [session.append('a.b', 1, { cause: 'x' as never }), 'ID_INVALID'],
      [store.appendAll([{ session: '01M7FCTG5P3PK256GN45S9KB2F' as never, type: 'a.b', data: 1 }]), 'SESSION_UNKNOWN'],
      [store.session(''), 'KEY_INVALID'],
      [store.session('\ud800'), 'KEY_INVALID'],
      [store.session('a\0b'), 'KEY_INVALID'],
      [store.sessions.find('\0'), 'KEY_INVALID'],
      [session.append('a.b', 1, { key: 'a\0' }), 'KEY_INVALID'],
      [store.session('n', { title: 'x'.repeat(2000) }), 'OPTION_INVALID'],
      [store.session('n', { metadata: [] as never }), 'OPTION_INVALID'],
      [store.session('n', { owner: 'with space' }), 'OPTION_INVALID'],
      [store.erase({ seq: 99, reason: 'x' }), 'EVENT_UNKNOWN'],
      [store.erase({ seq: 1, reason: '' }), 'OPTION_INVALID'],
      [store.sessions.list({ state: 'nope' as never }), 'RANGE_INVALID'],
      [store.sessions.list({ last: 0 }), 'RANGE_INVALID'],
      [store.sessions.list({ cursor: 'nope' }), 'CURSOR_INVALID'],
      [collect(store.events({ types: ['Nope'] })), 'TYPE_INVALID'],
      [collect(store.events({ after: -3 })), 'RANGE_INVALID'],
      [collect(store.events({ live: true, backwards: true })), 'RANGE_INVALID'],
      [store.page({ cursor: 'x' }), 'CURSOR_INVALID'],
    ]
    const codes = await Promise.all(tries.map(([tried]) => codeOf(tried)))
    expect(codes).toEqual(tries.map(([, code]) => code))
    expect(() => store.as('Ada Lovelace')).toThrow(expect.objectContaining({ code: 'ACTOR_INVALID' }))
    expect(() => store.tenant('../x')).toThrow(expect.objectContaining({ code: 'TENANT_INVALID' }))
    expect(await store.head()).toEqual(head)
    await session.append('a.b', 'x'.repeat(998))
  })

  test('events are read by session, type, actor, time and place, in both directions and by page', async () => {
    let now = 1_000_000
    const store = await engine.open({ clock: { now: () => now } })
    const [a, b] = [await store.session('a'), await store.session('b')]
    for (let i = 0; i < 30; i++) {
      now += 10
      await (i % 2 ? a : b).append(i % 3 ? 'plan.changed' : 'tool.called', i)
    }
    await (await store.as('user_7').session('a')).append('plan.moved', 'by 7')
    const data = async (query: Parameters<typeof store.events>[0]) => (await collect(store.events(query))).map((e) => e.data)
    expect(await data({ session: a.id, types: ['plan.*'], after: 2 })).toEqual([1, 5, 7, 11, 13, 17, 19, 23, 25, 29, 'by 7'])
    expect(await data({ types: ['tool.called'], backwards: true, limit: 3 })).toEqual([27, 24, 21])
    expect(await data({ types: ['tool.called', 'plan.moved'], after: 20 })).toEqual([18, 21, 24, 27, 'by 7'])
    expect(await data({ actor: 'user_7' })).toEqual(['by 7'])
    expect(await data({ since: 1_000_050, until: new Date(1_000_080), types: ['plan.*', 'tool.*'] })).toEqual([4, 5, 6])
    expect(await data({ after: 10, before: 13 })).toEqual([8, 9])
    expect(await data({ types: [] })).toEqual([])
    expect((await collect(store.events())).map((e) => e.seq)).toEqual(Array.from({ length: 33 }, (_, i) => i + 1))
    const paged: unknown[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await store.page({ session: b.id, limit: 4, backwards: true, ...(cursor && { cursor }) })
      paged.push(...page.items.map((e) => e.seq))
      cursor = page.cursor
      if (!cursor) break
    }
    expect(paged).toEqual((await collect(store.events({ session: b.id, backwards: true }))).map((e) => e.seq))
  })

  test('a tail sees what was there and what comes, once each and in order', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const receipt = await session.append('a.b', 0)
    const stop = new AbortController()
    const seen: number[] = []
    const tail = (async () => {
      for await (const e of store.events({ after: receipt.seq, live: true, signal: stop.signal })) {
        seen.push(e.seq)
        if (seen.length === 400) stop.abort()
      }
    })()
    for (let round = 0; round < 8; round++) await Promise.all(Array.from({ length: 50 }, (_, i) => session.append('a.b', i)))
    await tail
    expect(seen).toEqual(Array.from({ length: 400 }, (_, i) => receipt.seq + 1 + i))
  })

  test('a tail that waits ends when it is aborted and when the store closes', async () => {
    const store = await engine.open()
    const stop = new AbortController()
    const aborted = collect(store.events({ live: true, signal: stop.signal }))
    const closed = collect(store.events({ live: true }))
    setTimeout(() => stop.abort(), 20)
    expect(await aborted).toEqual([])
    await store.close()
    expect(await closed).toEqual([])
    expect(await codeOf(collect(store.events()))).toBe('STORE_CLOSED')
    expect(await codeOf(store.session('x'))).toBe('STORE_CLOSED')
    expect((await store.health()).status).toBe('degraded')
  })

  test('a read that is aborted before its end does not look complete', async () => {
    const store = await engine.open()
    await (await store.session('s')).append('a.b', 1)
    expect(await codeOf(collect(store.events({ signal: AbortSignal.abort() })))).toBe('ABORTED')
  })

  test('recent() holds the last hundred, without what was erased', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    for (let i = 0; i < 250; i++) void session.append('a.b', i)
    const last = await session.append('a.b', 250)
    expect(store.recent().map((e) => e.data)).toEqual(Array.from({ length: 100 }, (_, i) => 151 + i))
    await store.erase({ seq: last.seq, reason: 'test' })
    expect(store.recent().find((e) => e.seq === last.seq)).toMatchObject({ erased: true, data: undefined })
  })

  test('sessions are listed by state and owner, newest first, with a cursor', async () => {
    const store = await engine.open()
    for (let i = 0; i < 12; i++) await store.session(`s/${i}`, { owner: i % 2 ? 'odd' : 'even' })
    await (await store.session('s/3')).archive()
    const keys = async (options: Parameters<typeof store.sessions.list>[0]) => (await store.sessions.list(options)).items.map((s) => s.key)
    expect(await keys({ state: 'open', last: 3 })).toEqual(['s/11', 's/10', 's/9'])
    expect(await keys({ state: 'archived' })).toEqual(['s/3'])
    expect(await keys({ owner: 'odd', state: 'open', first: 2 })).toEqual(['s/1', 's/5'])
    const all: (string | undefined)[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await store.sessions.list({ last: 5, ...(cursor && { cursor }) })
      all.push(...page.items.map((s) => s.key))
      cursor = page.cursor
      if (!cursor) break
    }
    expect(all).toEqual(Array.from({ length: 12 }, (_, i) => `s/${11 - i}`))
  })

  test('a session is renamed, described, archived, reopened and deleted', async () => {
    const store = await engine.open()
    const session = await store.session('s', { title: 'one' })
    const other = await store.session('s')
    const receipt = await session.append('a.b', { private: 'text' })
    await session.rename('two')
    await other.append('a.b', 'renamed elsewhere is harmless')
    await session.describe({ color: 'blue' })
    expect((await store.session('s')).toJSON()).toMatchObject({ title: 'two', metadata: { color: 'blue' }, state: 'open' })
    await session.archive()
    expect(await codeOf(other.append('a.b', 1))).toBe('SESSION_ARCHIVED')
    await session.reopen()
    await other.append('a.b', 1)
    await session.delete({ reason: 'subject request 12' })
    expect(session.status).toBe('deleted')
    expect(session.title).toBeUndefined()
    for (const s of [session, other]) expect(await codeOf(s.append('a.b', 1))).toBe('SESSION_DELETED')
    expect(await codeOf(session.rename('x'))).toBe('SESSION_DELETED')
    expect(await store.sessions.find('s')).toBeUndefined()
    const events = await collect(store.events({ session: session.id }))
    expect(events.filter((e) => !e.erased).map((e) => e.type)).toEqual(['session.deleted'])
    const fresh = await store.session('s')
    expect(fresh.id).not.toBe(session.id)
    const report = await store.verify({ receipts: [receipt] })
    expect(report).toMatchObject({ intact: true, states: { 'erased-unauthorised': 0 } })
    expect(await session.delete({ reason: 'again' })).toMatchObject({ erased: 0 })
    await expectSound(store)
  })

  test('erasing takes the payload and keeps the chain, and rows follow', async () => {
    const store = await engine.open()
    const session = await store.session('s', { title: 'private title' })
    const receipt = await session.append('a.b', { private: 'text' })
    expect(await store.as('user_1').erase({ seq: receipt.seq, reason: 'subject request 12' })).toMatchObject({ erased: 1 })
    expect(await store.erase({ seq: receipt.seq, reason: 'again' })).toEqual({ erased: 0, receipts: [] })
    await store.erase({ seq: 1, reason: 'title' })
    expect((await store.sessions.get(session.id))?.title).toBeUndefined()
    // Found by whoever knows its key: a digest of that stays, so that nobody begins it anew.
    expect(await store.sessions.find('s')).toMatchObject({ id: session.id, key: undefined })
    const [event] = await collect(store.events({ after: receipt.seq - 1, limit: 1 }))
    expect(event).toMatchObject({ erased: true, data: undefined, hash: receipt.hash })
    const [by] = await collect(store.events({ types: ['payload.erased'] }))
    expect(by).toMatchObject({ actor: 'user_1', data: { seqs: [[2, 2]], reason: 'subject request 12' } })
    expect(await codeOf(store.erase({ seq: by?.seq ?? 0, reason: 'x' }))).toBe('ERASE_REFUSED')
    expect(await store.verify({ receipts: [receipt] })).toMatchObject({ intact: true, states: { erased: 2 } })
    await expectSound(store)
  })

  test('tenants share nothing but the file', async () => {
    const store = await engine.open()
    const acme = store.tenant('acme')
    const [ours, theirs] = [await store.session('s'), await acme.session('s')]
    expect(ours.id).not.toBe(theirs.id)
    await ours.append('a.b', 'ours')
    const receipt = await theirs.append('a.b', 'theirs', { key: 'k' })
    expect(receipt).toMatchObject({ seq: 2, tenant: 'acme' })
    expect((await ours.append('a.b', 'ours', { key: 'k' })).seq).toBe(3)
    expect((await collect(acme.events({ types: ['a.*'] }))).map((e) => e.data)).toEqual(['theirs'])
    expect(await store.sessions.get(theirs.id)).toBeUndefined()
    expect(await codeOf(store.appendAll([{ session: theirs.id, type: 'a.b', data: 1 }]))).toBe('SESSION_UNKNOWN')
    expect(await codeOf(acme.verify({ receipts: [await ours.append('a.b', 1)] }))).toBe('OPTION_INVALID')
    expect(await store.tenants()).toEqual(['acme', 'main'])
    // Whoever was given one tenant cannot reach another, nor learn of it.
    for (const beyond of [
      () => acme.tenants(),
      () => acme.measure(),
      () => acme.maintain(),
      () => acme.check(),
      () => acme.as('x').tenants(),
    ]) {
      expect(await codeOf(beyond())).toBe('TENANT_WALL')
    }
    expect(() => acme.tenant('main')).toThrow(expect.objectContaining({ code: 'TENANT_WALL' }))
    expect(acme.tenant('acme').tenantId).toBe('acme')
    await acme.close()
    await expectSound(store)
  })

  test('a key with a secret in it is kept masked and still found', async () => {
    const store = await engine.open()
    const key = `login/password=${'hunter'.repeat(3)}9`
    const session = await store.session(key)
    expect(session.key).not.toContain('hunter')
    expect((await store.session(key)).id).toBe(session.id)
    expect((await store.sessions.find(key))?.id).toBe(session.id)
  })

  test('masked secrets stay comparable: the same secret has the same tag, and a retry is the same command', async () => {
    const store = await engine.open({ redact: { keys: ['ssn'] } })
    const session = await store.session('s')
    const first = await session.append('a.b', { ssn: '123-45-6789' }, { key: 'k' })
    expect(await session.append('a.b', { ssn: '123-45-6789' }, { key: 'k' })).toEqual(first)
    expect(await codeOf(session.append('a.b', { ssn: '999-45-6789' }, { key: 'k' }))).toBe('KEY_REUSED')
    const [e] = await collect(store.events({ types: ['a.b'] }))
    expect(JSON.stringify(e)).not.toContain('-6789')
  })

  test('stats count, and health is ok while writes are quick', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await Promise.all(Array.from({ length: 100 }, (_, i) => session.append('a.b', i)))
    expect(store.stats()).toMatchObject({ commits: 101, events: 101, refused: 0, waiting: { commits: 0, bytes: 0 }, budget: { ms: 25 } })
    expect(store.stats().latency.p99).toBeGreaterThan(0)
    expect(store.stats().batches).toBeLessThan(20)
    expect(['ok', 'degraded']).toContain((await store.health()).status)
    expect((await store.types()).find((u) => u.type === 'a.b')).toMatchObject({ events: 100, erased: 0 })
    expect((await store.measure()).rows).toMatchObject({ events: 101, sessions: 1 })
    expect(await store.check()).toEqual([])
    expect(await store.maintain()).toMatchObject({ receiptsForgotten: 0 })
  })

  test('receipts of keyed commits are forgotten after thirty days', async () => {
    const { store, pass } = await engine.openInTime()
    const session = await store.session('s')
    const first = await session.append('a.b', 1, { key: 'k' })
    await pass(29 * 86_400_000)
    expect(await session.append('a.b', 1, { key: 'k' })).toEqual(first)
    expect(await store.maintain()).toMatchObject({ receiptsForgotten: 0 })
    await pass(2 * 86_400_000)
    await session.append('a.b', 2)
    expect(await store.maintain()).toMatchObject({ receiptsForgotten: 1 })
    expect((await session.append('a.b', 1, { key: 'k' })).seq).toBeGreaterThan(first.seq)
  })
})
