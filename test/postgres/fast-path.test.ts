// While nobody else writes, a node appends without asking again what it knows; as soon as somebody does, it asks.

import { describe, expect, test } from 'vitest'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { maker, put } from '../../src/conformance/material.ts'
import { randomWalk } from '../../src/conformance/walk.ts'
import { TRANSIENT } from '../../src/model/event.ts'
import { MAIN } from '../../src/model/ids.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Commit } from '../../src/ports/commit.ts'
import { later, openIn, tempDatabase } from '../support/engines.ts'
import { query } from '../support/postgres-database.ts'
import { rounds, seeds } from '../support/rounds.ts'
import { isFunction, isPlain, item, seqOf, watched } from './watched.ts'

async function one(url: string): Promise<Backend> {
  const backend = await postgresBackend({ url })
  later(() => backend.close())
  return backend
}

/** A lease, taken; its fence is the seq of the commit. */
const grant = (make: ReturnType<typeof maker>, owner: string): Commit =>
  make.commit(MAIN, { changes: [{ ...put('leases', 'lease', { owner }), kind: 'put', grants: true } as Commit['changes'][number]] })

test('a node that wrote last appends with one statement; its own rows and fences are known to it', async () => {
  const make = maker()
  const texts: string[] = []
  const backend = await watched(await tempDatabase(), (text) => texts.push(text))
  const [granted] = await backend.commit([grant(make, 'ada')])
  const fence = granted?.ok ? (granted.receipts[0]?.seq ?? 0) : 0
  texts.length = 0
  const held = { kind: 'fence', table: 'leases', id: 'lease', fence } as const
  const outcomes = await backend.commit([make.commit(MAIN, { guards: [held] }), make.commit(MAIN)])
  expect(outcomes.map((outcome) => outcome.ok)).toEqual([true, true])
  expect(texts.filter(isPlain)).toHaveLength(1)
  expect(texts.filter(isFunction)).toHaveLength(0)
  // What it has not seen, it asks.
  await backend.commit([make.commit(MAIN, { guards: [{ kind: 'row', table: 'work', id: 'free', revision: 0 }] })])
  expect(texts.filter(isFunction)).toHaveLength(1)
})

/** With its bytes as digits, and without what is not there. */
const told = (event: object): object =>
  Object.fromEntries(
    Object.entries(event).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value]],
    ),
  )

describe('rows that are changed as they were seen', () => {
  test('rows that are as they were seen are changed by the same statement: inserted, changed, removed', async () => {
    const make = maker()
    const texts: string[] = []
    const backend = await watched(await tempDatabase(), (text) => texts.push(text))
    await backend.commit([make.commit(MAIN)])
    texts.length = 0
    const born = await backend.commit([item(make, 'a', 0, 'ready'), item(make, 'b', 0, 'ready')])
    const claimed = await backend.commit([item(make, 'a', seqOf(born[0]), 'claimed'), item(make, 'b', seqOf(born[1]), 'claimed')])
    const done = await backend.commit([item(make, 'a', seqOf(claimed[0]), undefined), item(make, 'c', 0, 'ready')])
    expect([...born, ...claimed, ...done].every(({ ok }) => ok)).toBe(true)
    expect(texts.filter(isPlain)).toHaveLength(3)
    expect(texts.filter(isFunction)).toHaveLength(0)
    expect(await backend.rows.get(MAIN, 'work', 'a')).toBeUndefined()
    expect(await backend.rows.get(MAIN, 'work', 'b')).toMatchObject({ born: seqOf(born[1]), revision: seqOf(claimed[1]) })
    expect(await backend.rows.get(MAIN, 'work', 'c')).toMatchObject({ born: seqOf(done[1]), revision: seqOf(done[1]) })
  })

  test('a single row that is as it was seen is changed with an event that says everything an event can', async () => {
    const make = maker()
    const texts: string[] = []
    const backend = await watched(await tempDatabase(), (text) => texts.push(text))
    await backend.commit([make.commit(MAIN)])
    texts.length = 0
    const events = [
      make.draft(MAIN, { payload: '{"text":"{,\\"\\\\null}é\u{1F58B}"}' }),
      make.draft(MAIN, {
        class: TRANSIENT,
        actor: 'NULL, "ada" {\\}',
        session: make.id(),
        run: make.id(),
        subject: make.id(),
        cause: make.id(),
        key: make.chance.bytes(16),
      }),
    ]
    const states = ['ready', 'claimed', undefined]
    let revision = 0
    for (const [n, state] of states.entries()) {
      const [done] = await backend.commit([{ ...item(make, 'a', revision, state), events: [events[n] ?? make.draft(MAIN)] }])
      revision = seqOf(done)
      expect(await backend.rows.get(MAIN, 'work', 'a')).toEqual(
        state === undefined ? undefined : expect.objectContaining({ born: 2, revision, body: expect.stringContaining(state) }),
      )
    }
    expect(texts.filter(isPlain)).toHaveLength(3)
    expect(texts.filter(isFunction)).toHaveLength(0)
    const { events: kept } = await backend.journal.page(MAIN, { from: 1, limit: 2 })
    for (const [n, { event: _, payload, ...draft }] of events.entries())
      expect(told(kept[n] ?? {})).toMatchObject(told({ ...draft, payload: Buffer.from(payload) }))
  })

  test('bodies of several rows are kept byte for byte, by the statement and by the function', async () => {
    const make = maker()
    const texts: string[] = []
    const backend = await watched(await tempDatabase(), (text) => texts.push(text))
    const words = ['{"a\\"b"}', 'é\u{1F58B}', 'NULL, plain', '\u{10FFFF}']
    const bodyOf = (i: number) => JSON.stringify({ word: words[i] })
    const insert = (id: string, i: number): Commit => {
      const change = { ...put('work', id, { queue: 'q', state: 'ready', at: 0, priority: 0 }), kind: 'put', body: bodyOf(i) } as const
      return make.commit(MAIN, {
        guards: [{ kind: 'row', table: 'work', id, revision: 0 }],
        changes: [change as Commit['changes'][number]],
      })
    }
    for (const way of ['function', 'statement']) {
      texts.length = 0
      const commits = words.map((_, i) => insert(`${way}-${i}`, i))
      expect((await backend.commit(commits)).map(({ ok }) => ok)).toEqual(words.map(() => true))
      expect(texts.filter(way === 'function' ? isFunction : isPlain)).toHaveLength(1)
      for (const i of words.keys()) expect((await backend.rows.get(MAIN, 'work', `${way}-${i}`))?.body).toBe(bodyOf(i))
    }
  })

  test('a row that is not as it was seen is named by the function, and its neighbours are saved', async () => {
    const make = maker()
    const backend = await one(await tempDatabase())
    const born = await backend.commit([item(make, 'a', 0, 'ready')])
    const outcomes = await backend.commit([
      item(make, 'a', seqOf(born[0]) + 7, 'claimed'),
      item(make, 'b', 0, 'ready'),
      item(make, 'nobody', 3, undefined),
    ])
    expect(outcomes).toMatchObject([
      { ok: false, refused: { id: 'a' }, found: seqOf(born[0]) },
      { ok: true },
      { ok: false, refused: { id: 'nobody' }, found: 0 },
    ])
    expect(await backend.commit([item(make, 'a', 0, 'ready')])).toMatchObject([{ ok: false, refused: { id: 'a' } }])
  })

  /** Changes a row as it was before another node changed it. This node knows the head, and has not seen the row. */
  const changeLate = async (change?: (text: string) => string) => {
    const make = maker()
    const url = await tempDatabase()
    const other = await one(url)
    const born = await other.commit([item(make, 'a', 0, 'ready')])
    await other.commit([item(make, 'a', seqOf(born[0]), 'claimed')])
    const texts: string[] = []
    const backend = await watched(url, (text) => texts.push(text), change)
    await backend.commit([make.commit(MAIN)])
    texts.length = 0
    const outcomes = await backend.commit([item(make, 'a', seqOf(born[0]), 'claimed')])
    return { outcomes, statements: texts.filter(isPlain).length, calls: texts.filter(isFunction).length }
  }

  test('a row that another node has changed is left alone by the statement, and the function names it', async () => {
    expect(await changeLate()).toMatchObject({ outcomes: [{ ok: false, refused: { id: 'a' } }], statements: 1, calls: 1 })
  })

  test('without a look at the revision, a row that was changed meanwhile is overwritten: the control', async () => {
    const blind = (text: string) => text.replace('and s.revision = u.before', 'and u.before > 0')
    expect(await changeLate(blind)).toMatchObject({ outcomes: [{ ok: true }], statements: 1, calls: 0 })
  })

  test('a guard that this node knows not to hold is not tried by the statement', async () => {
    const make = maker()
    const texts: string[] = []
    const backend = await watched(await tempDatabase(), (text) => texts.push(text))
    await backend.commit([item(make, 'a', 0, 'ready')])
    texts.length = 0
    expect(await backend.commit([item(make, 'a', 7, 'claimed')])).toMatchObject([{ ok: false, refused: { id: 'a' } }])
    expect([texts.filter(isPlain).length, texts.filter(isFunction).length]).toEqual([0, 1])
  })
})

test('a lease taken by another node is lost, however sure its last holder was', async () => {
  const make = maker()
  const url = await tempDatabase()
  const [first, second] = [await one(url), await one(url)]
  const [granted] = await first.commit([grant(make, 'ada')])
  const fence = granted?.ok ? (granted.receipts[0]?.seq ?? 0) : 0
  const held = { kind: 'fence', table: 'leases', id: 'lease', fence } as const
  const [kept] = await first.commit([make.commit(MAIN, { guards: [held] })])
  expect(kept?.ok).toBe(true)
  await second.commit([grant(make, 'grace')])
  const [late] = await first.commit([make.commit(MAIN, { guards: [held] })])
  expect(late).toMatchObject({ ok: false, refused: { kind: 'fence' } })
})

test('a session archived by another node takes nothing more, and a renamed one does', async () => {
  const url = await tempDatabase()
  const [here, there] = [await openIn(url), await openIn(url)]
  const mine = await here.session('s')
  await mine.append('task.done', { n: 1 })
  const theirs = await there.session('s')
  await theirs.rename('renamed')
  await mine.append('task.done', { n: 2 })
  await theirs.archive()
  await expect(mine.append('task.done', { n: 3 })).rejects.toMatchObject({ code: 'SESSION_ARCHIVED' })
  expect(await here.verify()).toMatchObject({ intact: true })
})

test('a tenant closed by another node takes nothing more', async () => {
  const url = await tempDatabase()
  const [here, there] = [await openIn(url), await openIn(url)]
  const mine = await here.tenant('acme').session('s')
  await mine.append('task.done', { n: 1 })
  await there.setTenantState('acme', 'suspended', { reason: 'test' })
  await expect(mine.append('task.done', { n: 2 })).rejects.toMatchObject({ code: 'TENANT_CLOSED' })
})

describe('two nodes in turns', () => {
  /** Commits go to one or the other; everything else is read from the first. */
  const inTurns = (nodes: readonly Backend[], pick: () => number): Backend => ({
    ...(nodes[0] as Backend),
    commit: (batch) => (nodes[pick()] as Backend).commit(batch),
    close: async () => void (await Promise.all(nodes.map((node) => node.close()))),
  })

  const walk = async (seed: number, seen: (text: string) => void, damage?: string) => {
    const url = await tempDatabase()
    const nodes = [await watched(url, seen), await watched(url, seen)]
    if (damage !== undefined) await query(url, damage)
    let turn = 0
    // Several in a row, so that each comes to know something before the other writes.
    const backend = inTurns(nodes, () => Math.floor(turn++ / 6) % 2)
    return randomWalk({ seed, steps: rounds(70, 120), open: async () => ({ backend, ownClock: true }) })
  }

  test.each(seeds(1, 10))('two nodes in turns write what one node would, seed %i', async (seed) => {
    let plain = 0
    const { events } = await walk(seed, (text) => void (isPlain(text) && plain++))
    expect(events).toBeGreaterThan(20)
    expect(plain).toBeGreaterThan(3)
  })

  test('two nodes in turns write something else without a look at the head: the control', async () => {
    const blind = `create or replace function inkfast.move_head_v1(
        p_tenant text, p_from bigint, p_hash bytea, p_to bigint, p_new bytea) returns text language plpgsql security definer as $$
      begin
        update inkfast.heads h set seq = p_to, hash = p_new where h.tenant = p_tenant;
        return p_tenant;
      end $$`
    await expect(walk(1, () => {}, blind)).rejects.toThrow('parts from the oracle')
  })
})
