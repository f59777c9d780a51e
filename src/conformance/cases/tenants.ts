// The wall between tenants: the same ids, keys and names on both sides never meet.

import { ok, deepEqual as same } from 'node:assert/strict'
import { tenantId } from '../../model/ids.ts'
import { tableNames, tableOf } from '../../model/tables.ts'
import { group } from '../case.ts'
import { keyOf, MAIN, OTHER, put } from '../material.ts'
import { picture, readAll } from '../picture.ts'
import { refused, save, saved, send } from './expect.ts'

const a = group('tenants')

const wall = 'what one tenant has another neither sees nor touches'
const known = 'tenants are those that were written to, in the order of their ids'

export const tenants = [
  a(wall, 'the same ids, sessions and rows in two tenants are two of each', async ({ backend, make }) => {
    const session = make.id<'session'>()
    for (const [tenant, text] of [
      [MAIN, 'mine'],
      [OTHER, 'theirs'],
    ] as const) {
      const events = [make.draft(tenant, { session, payload: `"${text}"` })]
      await save(backend, make.commit(tenant, { events, changes: tableNames.map((table) => put(table, 'same', { text })) }))
    }
    await backend.commit(make.commits(OTHER, 3, () => ({ session, payload: '"theirs"' })))
    for (const [tenant, text, count] of [
      [MAIN, 'mine', 1],
      [OTHER, 'theirs', 4],
    ] as const) {
      const events = await readAll(backend.journal, tenant, { session })
      same(
        events.map((e) => `${e.seq} ${Buffer.from(e.payload ?? []).toString()}`),
        Array.from({ length: count }, (_, i) => `${i + 1} "${text}"`),
      )
      same((await backend.journal.head(tenant)).seq, count)
      for (const table of tableNames) {
        same((await backend.rows.get(tenant, table, 'same'))?.body, `{"text":"${text}"}`)
        for (const index of Object.keys(tableOf(table).indexes))
          same((await backend.rows.list(tenant, table, { index, equals: [], limit: 9 })).rows.length, 1)
      }
      same(
        (await backend.queries.usageByType(tenant)).map((usage) => usage.events),
        [count],
      )
    }
  }),

  a(wall, 'removing, erasing and guarding in one tenant leaves the other as it was', async ({ backend, make }) => {
    for (const tenant of [MAIN, OTHER]) {
      const changes = [put('names', 'n'), put('leases', 'l', {}, { grants: true })]
      await save(backend, make.commit(tenant, { key: keyOf(tenant, 'k'), changes }))
    }
    const before = await picture(backend, [OTHER])
    await save(
      backend,
      make.commit(MAIN, {
        changes: [
          { kind: 'erase', seqs: [1] },
          { kind: 'remove', table: 'names', id: 'n' },
        ],
      }),
    )
    await save(backend, make.commit(MAIN, { changes: [put('leases', 'l', {}, { grants: true })] }))
    same(await picture(backend, [OTHER]), before)
    await save(
      backend,
      make.commit(OTHER, {
        guards: [
          { kind: 'row', table: 'names', id: 'n', revision: 1 },
          { kind: 'fence', table: 'leases', id: 'l', fence: 1 },
        ],
      }),
    )
  }),

  a(wall, 'receipts and earlier sendings are looked for in their own tenant', async ({ backend, make }) => {
    const mine = make.commit(MAIN, { key: keyOf(MAIN, 'k') })
    await save(backend, mine)
    const theirs = { ...mine, tenant: OTHER, since: 0 }
    const receipts = await save(backend, theirs)
    same([receipts[0]?.tenant, receipts[0]?.seq], [OTHER, 1])
    refused(await send(backend, { ...mine, key: { ...keyOf(MAIN, 'k'), body: '0' } }), 'key', { seq: 1, erased: false })
    same(saved(await send(backend, mine), true)[0]?.tenant, MAIN)
    const bare = make.commit(MAIN)
    await save(backend, bare)
    await save(backend, { ...bare, tenant: OTHER, since: 0 })
  }),

  a(wall, 'a snapshot shows the rows of its own tenant', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN, { changes: [put('names', 'mine')] }))
    await save(backend, make.commit(OTHER, { changes: [put('names', 'theirs')] }))
    const snapshot = await backend.upkeep.snapshot(OTHER)
    const rows = await snapshot.rows('names', undefined, 9)
    await snapshot.close()
    same(
      rows.map((row) => row.id),
      ['theirs'],
    )
  }),

  a(wall, 'ids that differ by their case alone are two tenants', async ({ backend, make }) => {
    const [low, high] = [tenantId('acme'), tenantId('ACME')]
    await save(backend, make.commit(low, { changes: [put('names', 'n')] }))
    await save(backend, make.commit(high))
    same((await backend.journal.head(low)).seq, 1)
    same(await backend.rows.get(high, 'names', 'n'), undefined)
  }),

  a(known, 'tenants are listed in the order of their ids, once they were written to', async ({ backend, make }) => {
    same(await backend.journal.tenants(), [])
    const ids = ['main', 'b', 'B', 'a.b', 'a-b', '0', 'Zed', 'z_', 'a'].map(tenantId)
    await backend.commit(ids.map((id) => make.commit(id)))
    await backend.commit([make.commit(tenantId('never'), { guards: [{ kind: 'row', table: 'names', id: 'n', revision: 1 }] })])
    const all = ids.toSorted((x, y) => Buffer.compare(Buffer.from(x), Buffer.from(y)))
    same(await backend.journal.tenants(), all)
    for (const limit of [1, 4, 9, 10]) {
      const pages: (readonly string[])[] = []
      for (let after = ''; pages.at(-1)?.length !== 0; after = pages.at(-1)?.at(-1) ?? after) {
        ok(pages.length <= all.length, 'the pages come to an end')
        pages.push(await backend.journal.tenants({ after, limit }))
      }
      ok(
        pages.every((page) => page.length <= limit),
        `at most ${limit}`,
      )
      same(pages.flat(), all, `in pages of ${limit}`)
    }
    same(await backend.journal.tenants({ after: 'b' }), all.slice(all.indexOf(tenantId('b')) + 1))
  }),

  a(known, 'asking under a key in a tenant nobody has written to makes no tenant', async ({ backend, make }) => {
    same(await save(backend, make.commit(MAIN, { key: keyOf(MAIN, 'k'), events: [] })), [])
    same(await backend.journal.tenants(), [])
  }),
]
