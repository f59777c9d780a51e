// Maintenance of a store: snapshots, rebuilt rows, secrets, sizes.

import { ok, deepEqual as same } from 'node:assert/strict'
import { hex } from '../../model/bytes.ts'
import { columnsOf, encodeBody } from '../../model/rows.ts'
import { type TableName, tableNames, tableOf } from '../../model/tables.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Change } from '../../ports/commit.ts'
import type { Scratch } from '../../ports/upkeep.ts'
import { group } from '../case.ts'
import { keyOf, MAIN, OTHER, put } from '../material.ts'
import { picture, rowLine, snapshotLines } from '../picture.ts'
import { save, saved, send } from './expect.ts'

const a = group('upkeep')

const still = 'a snapshot stays still while others write'
const folded = 'rows folded beside the store are stamped as a commit stamps them'
const adopted = 'folded rows are put in place all at once, or not at all'
const secret = 'a secret is made once'
const counted = 'a store says how much it holds'
const sound = 'a store nobody has damaged is sound'

async function fold(backend: Backend, ids: readonly string[]): Promise<Scratch> {
  const scratch = await backend.upkeep.scratch()
  for (const id of ids) await scratch.apply(1, [put('names', id, { target: 'folded' }), put('leases', id, {}, { grants: true })])
  return scratch
}

// A row of a cache table follows from no event.
const cached = (table: TableName, id: string): Change => ({ kind: 'put', table, id, columns: columnsOf(table, {}), body: encodeBody({}) })

const namesOf = async (backend: Backend, target: string): Promise<readonly string[]> =>
  (await backend.rows.list(MAIN, 'names', { index: 'byTarget', equals: [target], limit: 50 })).rows.map((row) => row.id)

export const upkeep = [
  a(still, 'commits, erasures and removals after a snapshot are not seen in it', async ({ backend, make }) => {
    await backend.commit(make.commits(MAIN, 5))
    await save(backend, make.commit(MAIN, { changes: tableNames.flatMap((table) => ['a', 'b', 'c'].map((id) => put(table, id))) }))
    const snapshot = await backend.upkeep.snapshot(MAIN)
    const before = await snapshotLines(snapshot, MAIN)
    const live = (await picture(backend, [MAIN])).slice(1)
    same(before, live, 'a snapshot begins as the store is')
    await save(
      backend,
      make.commit(MAIN, {
        changes: [
          put('names', 'a', { target: 'x' }),
          put('names', 'new'),
          { kind: 'remove', table: 'sessions', id: 'b' },
          { kind: 'erase', seqs: [2] },
        ],
      }),
    )
    const after = await snapshotLines(snapshot, MAIN)
    await snapshot.close()
    same(after, before)
    ok((await picture(backend, [MAIN])).length > before.length + 1, 'the store itself went on')
  }),

  a(still, 'a snapshot gives its rows in the order of their ids, in steps', async ({ backend, make }) => {
    const ids = ['\u{1F600}', '\uFFFD', 'b', 'a', 'ä', 'B']
    await save(backend, make.commit(MAIN, { changes: ids.map((id) => put('names', id)) }))
    const sorted = ids.toSorted((x, y) => Buffer.compare(Buffer.from(x), Buffer.from(y)))
    const snapshot = await backend.upkeep.snapshot(MAIN)
    for (let limit = 1; limit <= ids.length + 1; limit++) {
      const read: string[] = []
      for (;;) {
        const rows = await snapshot.rows('names', read.at(-1), limit)
        read.push(...rows.map((row) => row.id))
        if (rows.length < limit) break
      }
      same(read, sorted, `${limit} at a time`)
    }
    await snapshot.close()
  }),

  a(folded, 'a scratch stamps born, revision and fence from the seq it is given', async ({ backend }) => {
    const scratch = await backend.upkeep.scratch()
    await scratch.apply(3, [put('leases', 'l', { owner: 'ada' }, { grants: true }), put('names', 'n', {}, { event: 4 })])
    await scratch.apply(7, [put('leases', 'l', { owner: 'bob' })])
    await scratch.apply(8, [put('names', 'gone')])
    await scratch.apply(9, [{ kind: 'remove', table: 'names', id: 'gone' }])
    same(await scratch.get('leases', 'l'), { id: 'l', born: 3, revision: 7, fence: 3, body: '{"owner":"bob"}' })
    same(await scratch.get('names', 'gone'), undefined)
    const rows = [...(await scratch.rows('names', undefined, 5)), ...(await scratch.rows('leases', undefined, 5))]
    await scratch.close()
    same(rows.map(rowLine), ['"n" born=3 revision=3 fence=- body={}', '"l" born=3 revision=7 fence=3 body={"owner":"bob"}'])
  }),

  a(adopted, 'adopting puts the folded rows in place of the tenant’s and of no one else’s', async ({ backend, make }) => {
    for (const tenant of [MAIN, OTHER])
      await save(backend, make.commit(tenant, { changes: tableNames.map((table) => put(table, 'old', { target: 'live' })) }))
    const others = await picture(backend, [OTHER])
    for (const ids of [['x', 'y'], ['z']]) {
      const scratch = await fold(backend, ids)
      same(await backend.upkeep.adopt(MAIN, scratch, await backend.journal.head(MAIN)), true)
      await scratch.close()
      same(await namesOf(backend, 'folded'), ids)
      same(await namesOf(backend, 'live'), [])
      same(await backend.rows.get(MAIN, 'leases', ids[0] as string), { id: ids[0], born: 1, revision: 1, fence: 1, body: '{}' })
      same(await backend.rows.get(MAIN, 'sessions', 'old'), undefined)
    }
    same(await picture(backend, [OTHER]), others)
    same((await save(backend, make.commit(MAIN, { guards: [{ kind: 'row', table: 'names', id: 'z', revision: 1 }] })))[0]?.seq, 2)
  }),

  a(adopted, 'adopting is refused, and changes nothing, when the head has moved', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN, { changes: [put('names', 'old', { target: 'live' })] }))
    const head = await backend.journal.head(MAIN)
    const scratch = await fold(backend, ['x'])
    await save(backend, make.commit(MAIN))
    const before = await picture(backend, [MAIN])
    same(await backend.upkeep.adopt(MAIN, scratch, head), false)
    await scratch.close()
    const other = await fold(backend, ['x'])
    same(await backend.upkeep.adopt(MAIN, other, { seq: 2, hash: head.hash }), false, 'the same seq under another hash is another head')
    await other.close()
    same(await picture(backend, [MAIN]), before)
  }),

  a(adopted, 'adopting leaves events, receipts and caches alone', async ({ backend, make }) => {
    const key = keyOf(MAIN, 'k')
    const first = await save(backend, make.commit(MAIN, { key, changes: [put('names', 'old')] }))
    const caches = tableNames.filter((table) => tableOf(table).authority === 'cache')
    for (const table of caches) await save(backend, make.commit(MAIN, { events: [], changes: [cached(table, 'kept')] }))
    const scratch = await backend.upkeep.scratch()
    same(await backend.upkeep.adopt(MAIN, scratch, await backend.journal.head(MAIN)), true)
    await scratch.close()
    same(await backend.rows.get(MAIN, 'names', 'old'), undefined)
    for (const table of caches) same((await backend.rows.get(MAIN, table, 'kept'))?.id, 'kept', table)
    same(saved(await send(backend, make.commit(MAIN, { key })), true), first)
  }),

  a(secret, 'a secret is the same every time, and another under another name', async ({ backend }) => {
    const [one, again, other] = [
      await backend.upkeep.secret('one'),
      await backend.upkeep.secret('one'),
      await backend.upkeep.secret('other'),
    ]
    ok(one.length >= 16, `${one.length} bytes`)
    same(hex(again), hex(one))
    ok(hex(other) !== hex(one), 'another name, another secret')
    ok(
      one.some((byte) => byte !== 0),
      'not zeros',
    )
  }),

  a(counted, 'rows are counted by table, over all tenants', async ({ backend, make }) => {
    await save(
      backend,
      make.commit(MAIN, { events: [make.draft(MAIN), make.draft(MAIN)], changes: [put('names', 'a'), put('names', 'b')] }),
    )
    await save(backend, make.commit(OTHER, { changes: [put('names', 'a'), put('leases', 'l')] }))
    await save(backend, make.commit(MAIN, { changes: [{ kind: 'remove', table: 'names', id: 'a' }] }))
    const { rows } = await backend.upkeep.measure()
    const expected: Readonly<Record<string, number>> = { events: 4, names: 2, leases: 1 }
    for (const table of ['events', ...tableNames]) same(rows[table], expected[table] ?? 0, table)
  }),

  a(counted, 'usage by type has the largest first, then the types in order', async ({ backend, make }) => {
    same(await backend.queries.usageByType(MAIN), [])
    const payloads = { 'b.b': ['"é"'], 'a.a': ['"é"'], 'c.c': ['1', '"😀😀"'], 'a-b.x': ['"é"'] }
    const events = Object.entries(payloads).flatMap(([type, texts]) => texts.map((payload) => make.draft(MAIN, { type, payload })))
    await save(backend, make.commit(MAIN, { events }))
    await save(backend, make.commit(OTHER))
    same(await backend.queries.usageByType(MAIN), [
      { type: 'c.c', events: 2, bytes: 11, erased: 0 },
      { type: 'a-b.x', events: 1, bytes: 4, erased: 0 },
      { type: 'a.a', events: 1, bytes: 4, erased: 0 },
      { type: 'b.b', events: 1, bytes: 4, erased: 0 },
    ])
  }),

  a(sound, 'a check finds nothing and health is good', async ({ backend, make }) => {
    await backend.commit(make.commits(MAIN, 3))
    same(await backend.upkeep.check(), [])
    const { ok, why } = await backend.upkeep.health()
    same({ ok, why }, { ok: true, why: [] })
  }),
]
