// A row that was edited by hand is refused by name wherever it is read, and made again from the journal.

import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import type { Store } from '../../src/index.ts'
import { asSuperuser } from '../postgres/logins.ts'
import { expectSound, lentDatabase, openIn, tempFile } from '../support/engines.ts'

interface Place {
  readonly open: () => Promise<Store>
  readonly damage: (table: string, body: string) => Promise<void>
}

const engines: readonly { readonly name: string; readonly make: () => Promise<Place> }[] = [
  {
    name: 'sqlite',
    make: async () => {
      const path = tempFile()
      return {
        open: () => openIn(path),
        damage: async (table, body) => {
          const db = new DatabaseSync(path)
          db.prepare(`update ${table} set body = ?`).run(body)
          db.close()
        },
      }
    },
  },
  {
    name: 'postgres',
    make: async () => {
      const url = await lentDatabase()
      return {
        open: () => openIn(url),
        damage: (table, body) =>
          asSuperuser(url, async (superuser) => void (await superuser.query(`update inkfast.${table} set body = $1`, [body]))),
      }
    },
  },
]

const MESSAGE = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] } as const

const BODIES = ['{', 'null', '[]']

/** The calls that read a row of each table. */
const reads: Readonly<Record<string, Readonly<Record<string, (store: Store) => unknown>>>> = {
  sessions: {
    session: (store) => store.session('s'),
    'sessions.find': (store) => store.sessions.find('s'),
    'sessions.list': (store) => store.sessions.list(),
  },
  runs: { 'runs.list': (store) => store.runs.list(), run: async (store) => (await store.session('s')).run('r') },
  work: { list: (store) => store.queue('q').list(), claim: (store) => store.queue('q').claim() },
  state: { get: (store) => store.state.get('k'), set: (store) => store.state.set('k', 2), collect: (store) => store.collect() },
  inputs: { list: async (store) => (await store.session('s')).inputs.list() },
  messages: {
    messages: async (store) => (await store.session('s')).thread.messages(),
    add: async (store) => (await store.session('s')).thread.add({ ...MESSAGE, id: 'n' }),
  },
  memory: { list: (store) => store.memory.list(), recall: (store) => store.memory.recall('tea') },
  jobs: { list: (store) => store.cron.list(), get: (store) => store.cron.get('j') },
  processes: { list: (store) => store.processes.list(), get: (store) => store.processes.get('p') },
}

async function outcomes(store: Store, tables: typeof reads): Promise<Readonly<Record<string, unknown>>> {
  const all: Record<string, unknown> = {}
  for (const [table, calls] of Object.entries(tables))
    for (const [name, call] of Object.entries(calls))
      all[`${name} of ${table}`] = await (async () => call(store))().then(
        () => 'done',
        (error: unknown) => error,
      )
  return all
}

const eachOf = (tables: typeof reads, outcome: unknown): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(tables).flatMap(([table, calls]) => Object.keys(calls).map((name) => [`${name} of ${table}`, outcome])))

describe.each(engines)('a damaged row on $name', ({ make }) => {
  test('is refused by name wherever it is read, and rebuilt', async () => {
    const { open, damage } = await make()
    const first = await open()
    const session = await first.session('s')
    await (await session.run('r')).finish()
    await session.input('hello')
    await session.thread.add(MESSAGE)
    await first.queue('q').offer(1)
    await first.state.set('k', 1)
    await first.memory.remember('tea is warm')
    await first.cron.set('j', { every: '1h', queue: 'q' })
    await first.processes.register('p', { kind: 'k', recovery: 'external' })
    // Calls that read other tables read the row of the session before.
    const { sessions = {}, ...others } = reads
    for (const tables of [{ sessions }, others]) {
      for (const [n, table] of Object.keys(tables).entries()) await damage(table, BODIES[n % BODIES.length] as string)
      // A store that remembers nothing.
      const store = await open()
      expect(await outcomes(store, tables)).toEqual(
        eachOf(tables, expect.objectContaining({ code: 'ROW_DAMAGED', details: expect.objectContaining({ id: expect.any(String) }) })),
      )
      const { differences } = await store.rebuild({ check: true })
      expect(new Set(differences.map(({ table }) => table))).toEqual(new Set(Object.keys(tables)))
      await store.rebuild()
      expect(await outcomes(store, tables)).toEqual(eachOf(tables, 'done'))
      await store.close()
    }
    await expectSound(first)
  })
})
