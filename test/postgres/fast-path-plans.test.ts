// A commit on a known head finds the rows it changes by their keys, with plans from when there was nothing to find.

import { expect, test } from 'vitest'
import { maker, put, sha256 } from '../../src/conformance/material.ts'
import { MAIN } from '../../src/model/ids.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { tempDatabase } from '../support/engines.ts'
import { asSuperuser } from './logins.ts'
import { until } from './until.ts'
import { isPlain, item, seqOf, watched } from './watched.ts'

const ROWS = 20_000

interface Commits {
  readonly table: string
  /** Rows that are in the way. */
  readonly others: string
  /** Makes commits on a known head, and says how many. The second time their ids are others. */
  once(backend: Backend, make: ReturnType<typeof maker>, again: boolean): Promise<number>
  /** How the server shows that it has counted everything. */
  readonly counted: string
}

/** Inserts, changes and removes one item, and then two of them. */
const items: Commits = {
  table: 'work',
  others: `insert into inkfast.work (tenant, id, born, revision, queue, state, at, priority, body)
    select 'main', 'x' || n, n, n, 'q', 'ready', n, 0, '{}' from generate_series(1, ${ROWS}) n`,
  once: async (backend, make) => {
    for (const ids of [['z1'], ['z2', 'z3']]) {
      let revisions = ids.map(() => 0)
      for (const state of ['ready', 'claimed', undefined]) {
        const done = await backend.commit(ids.map((id, i) => item(make, id, revisions[i] ?? 0, state)))
        revisions = done.map(seqOf)
      }
    }
    return 6
  },
  counted: 'n_tup_del = 6',
}

/** Takes one name, and then two of them. */
const names: Commits = {
  table: 'names',
  others: `insert into inkfast.names (tenant, id, born, revision, body) select 'main', 'x' || n, n, n, '{}' from generate_series(1, ${ROWS}) n`,
  once: async (backend, make, again) => {
    const taken = [['z1'], ['z2', 'z3']].map((ids) => ids.map((id) => `${id} ${again}`))
    for (const ids of taken) {
      const guards = ids.flatMap((id) => [id, `held:${id}`]).map((id) => ({ kind: 'row', table: 'names', id, revision: 0 }) as const)
      const [done] = await backend.commit([make.commit(MAIN, { guards, changes: ids.map((id) => put('names', id)) })])
      expect(done?.ok).toBe(true)
    }
    return 2
  },
  counted: `n_tup_ins = ${ROWS + 6}`,
}

/** Brings a node and names it, twice. The look is in functions, which the control leaves as they are. */
const nodes: Commits = {
  table: 'nodes',
  others: `insert into inkfast.nodes (tenant, id, ref, at, body)
    select 'main', 1000 + n, sha256(int8send(n)), 0, '' from generate_series(1, ${ROWS}) n`,
  once: async (backend, make, again) => {
    for (const n of [1, 2]) {
      const body = Buffer.from(`${n} ${again}`)
      const node = { ref: sha256(body), body }
      await backend.commit([make.commit(MAIN, { nodes: [node] })])
      const [named] = await backend.commit([make.commit(MAIN, { guards: [{ kind: 'value', ref: node.ref }] })])
      expect(named?.ok).toBe(true)
    }
    return 4
  },
  counted: `n_tup_ins = ${ROWS + 4}`,
}

/** Rows that were looked at beside all those that are in the way, with plans from when there were none. */
async function lookedAt({ table, others, once, counted }: Commits, change?: (text: string) => string): Promise<number> {
  const url = await tempDatabase()
  const plain: string[] = []
  const backend = await watched(url, (text) => void (isPlain(text) && plain.push(text)), change)
  const make = maker()
  await backend.commit([make.commit(MAIN)])
  const first = await once(backend, make, false)
  await asSuperuser(url, (superuser) => superuser.query(others))
  const second = await once(backend, make, true)
  expect(plain).toHaveLength(first + second)
  // Told when it ends.
  await backend.close()
  let seen: number | undefined
  await until('the server has counted', async () => {
    const { rows } = await asSuperuser(url, (superuser) =>
      superuser.query(`select (seq_tup_read + idx_tup_fetch)::integer as seen from pg_stat_user_tables
        where schemaname = 'inkfast' and relname = '${table}' and ${counted}`),
    )
    seen = rows[0]?.seen
    return seen !== undefined
  })
  return seen as unknown as number
}

test.each([items, names, nodes])('rows of $table are found by a look at each, however many there are by now', async (commits) => {
  expect(await lookedAt(commits)).toBeLessThan(60)
})

test.each([items, names])('without a range to look in, all rows of $table are gone through: the control', async (commits) => {
  const anywhere = (text: string) => text.replaceAll(/s\.id between (\w)\.id and \w\.id/g, "s.id || '' = $1.id || ''")
  expect(await lookedAt(commits, anywhere)).toBeGreaterThan(ROWS)
})
