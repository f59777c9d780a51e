// Rows as stored: `born`, `revision` and `fence` are seqs that the backend assigns.

import { deepEqual as same } from 'node:assert/strict'
import { tableNames, tableOf } from '../../model/tables.ts'
import { group } from '../case.ts'
import { MAIN, put } from '../material.ts'
import { save } from './expect.ts'

const a = group('rows')

const stamped = 'a row is stamped with the seqs of its first and its last event'
const kept = 'a row is kept as it was put until it is removed'

const together = 'rows that are read together are those of their keys'

const strange = ['a', 'A', 'a ', 'ä', 'a\u0308', '\u{1F600}', '\uFFFD', 'session:support/4711', "'; drop table names; --", '%', '"']

export const rows = [
  a(stamped, 'born is the first event of a row and revision the last', async ({ backend, make }) => {
    for (const table of tableNames) {
      const first = (await save(backend, make.commit(MAIN, { changes: [put(table, 'r', { v: 1 })] })))[0]?.seq as number
      same(await backend.rows.get(MAIN, table, 'r'), { id: 'r', born: first, revision: first, body: '{"v":1}' }, table)
      const last = (await save(backend, make.commit(MAIN, { changes: [put(table, 'r', { v: 2 })] })))[0]?.seq as number
      same(await backend.rows.get(MAIN, table, 'r'), { id: 'r', born: first, revision: last, body: '{"v":2}' }, table)
    }
  }),

  a(stamped, 'a row follows from the event of its commit that it names', async ({ backend, make }) => {
    await backend.commit(make.commits(MAIN, 4))
    const events = [make.draft(MAIN), make.draft(MAIN), make.draft(MAIN)]
    const changes = [
      put('names', 'third', {}, { event: 2 }),
      put('names', 'first'),
      put('leases', 'second', {}, { event: 1, grants: true }),
    ]
    await save(backend, make.commit(MAIN, { events, changes }))
    same((await backend.rows.get(MAIN, 'names', 'third'))?.revision, 7)
    same((await backend.rows.get(MAIN, 'names', 'first'))?.revision, 5)
    same(await backend.rows.get(MAIN, 'leases', 'second'), { id: 'second', born: 6, revision: 6, fence: 6, body: '{}' })
  }),

  a(stamped, 'the fence is the seq of the event that granted the row', async ({ backend, make }) => {
    for (const table of tableNames.filter((name) => tableOf(name).fenced)) {
      const grant = async (grants: boolean) =>
        (await save(backend, make.commit(MAIN, { changes: [put(table, 'f', {}, { grants })] })))[0]?.seq
      await grant(false)
      const first = await grant(true)
      await grant(false)
      same((await backend.rows.get(MAIN, table, 'f'))?.fence, first)
      const second = await grant(true)
      same((await backend.rows.get(MAIN, table, 'f'))?.fence, second)
    }
  }),

  a(stamped, 'a row put twice in one commit is the last of the two', async ({ backend, make }) => {
    const events = [make.draft(MAIN), make.draft(MAIN)]
    const changes = [put('names', 'n', { v: 1 }), put('names', 'n', { v: 2 }, { event: 1 })]
    await save(backend, make.commit(MAIN, { events, changes }))
    same(await backend.rows.get(MAIN, 'names', 'n'), { id: 'n', born: 1, revision: 2, body: '{"v":2}' })
  }),

  a(kept, 'ids that look alike are different rows, and bodies are exact', async ({ backend, make }) => {
    const changes = strange.map((id) => put('names', id, { target: id, text: 'ä€😀\u0001"\\' }))
    await save(backend, make.commit(MAIN, { changes }))
    for (const [i, id] of strange.entries()) {
      const change = changes[i]
      same(await backend.rows.get(MAIN, 'names', id), { id, born: 1, revision: 1, body: change?.kind === 'put' ? change.body : '' })
    }
    same(await backend.rows.get(MAIN, 'names', 'b'), undefined)
    same(await backend.rows.get(MAIN, 'sessions', 'a'), undefined)
  }),

  a(together, 'rows of any tables come in the order of their keys, and what is not there is undefined', async ({ backend, make }) => {
    const changes = [put('names', 'a', { v: 1 }), put('names', 'b', { v: 2 }), put('core', 'a', { v: 3 }), put('sessions', 'c', { v: 4 })]
    await save(backend, make.commit(MAIN, { changes }))
    await save(backend, make.commit(MAIN, { changes: [put('names', 'b', { v: 5 })] }))
    const found = await backend.rows.getMany(MAIN, [
      { table: 'sessions', id: 'a' },
      { table: 'names', id: 'b' },
      { table: 'core', id: 'a' },
      { table: 'names', id: 'not\0text' },
      { table: 'names', id: 'a' },
      { table: 'sessions', id: 'c' },
      { table: 'names', id: 'b' },
    ])
    const second = { id: 'b', born: 1, revision: 2, body: '{"v":5}' }
    const first = (id: string, v: number) => ({ id, born: 1, revision: 1, body: `{"v":${v}}` })
    same(found, [undefined, second, first('a', 3), undefined, first('a', 1), first('c', 4), second])
    same(await backend.rows.getMany(MAIN, []), [])
  }),

  a(kept, 'a removed row is gone, and what takes its id is born anew', async ({ backend, make }) => {
    for (const table of tableNames) {
      await save(backend, make.commit(MAIN, { changes: [put(table, 'r'), put(table, 'stays')] }))
      await save(backend, make.commit(MAIN, { changes: [{ kind: 'remove', table, id: 'r' }] }))
      same(await backend.rows.get(MAIN, table, 'r'), undefined)
      const { rows: left } = await backend.rows.list(MAIN, table, {
        index: Object.keys(tableOf(table).indexes)[0] as string,
        equals: [],
        limit: 9,
      })
      same(
        left.map((row) => row.id),
        ['stays'],
      )
      await save(backend, make.commit(MAIN, { changes: [{ kind: 'remove', table, id: 'never was' }] }))
      const again = (await save(backend, make.commit(MAIN, { changes: [put(table, 'r')] })))[0]?.seq
      same((await backend.rows.get(MAIN, table, 'r'))?.born, again)
    }
  }),
]
