// Every stored record of a conversation has a schema version, and every read checks it: none, one that is no number and another are three errors.

import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import type { Session, Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { asSuperuser } from '../postgres/logins.ts'
import { shared } from '../runs/in-memory.ts'
import { expectSound, lentDatabase, openIn, tempFile } from '../support/engines.ts'

interface Place {
  readonly open: () => Promise<Store>
  /** Replaces the version in every row of a table. */
  readonly damage: (table: string, version: string | undefined) => Promise<void>
}

const STORED = '"schema":1,'
const asText = (version: string | undefined): string => (version === undefined ? '' : `"schema":${version},`)
const sqlOf = (table: string, version: string | undefined): string =>
  `update ${table} set body = replace(body, '${STORED}', '${asText(version)}')`

const engines: readonly { readonly name: string; readonly make: () => Promise<Place> }[] = [
  {
    name: 'memory',
    make: async () => {
      const another = shared()
      let damaged: { readonly table: string; readonly text: string } | undefined
      const read = <Row extends { readonly body: string }>(table: string, row: Row): Row =>
        damaged?.table === table ? { ...row, body: row.body.replace(STORED, damaged.text) } : row
      const around = (backend: Backend): Backend => ({
        ...backend,
        rows: {
          get: async (tenant, table, id) => {
            const row = await backend.rows.get(tenant, table, id)
            return row && read(table, row)
          },
          getMany: async (tenant, keys) => {
            const rows = await backend.rows.getMany(tenant, keys)
            return rows.map((row, i) => row && read(keys[i]?.table ?? '', row))
          },
          list: async (tenant, table, query) => {
            const page = await backend.rows.list(tenant, table, query)
            return { ...page, rows: page.rows.map((row) => read(table, row)) }
          },
        },
      })
      return {
        open: () => another({}, around),
        damage: async (table, version) => {
          damaged = { table, text: asText(version) }
        },
      }
    },
  },
  {
    name: 'sqlite',
    make: async () => {
      const path = tempFile()
      return {
        open: () => openIn(path),
        damage: async (table, version) => {
          const db = new DatabaseSync(path)
          db.exec(sqlOf(table, version))
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
        damage: (table, version) => asSuperuser(url, async (superuser) => void (await superuser.query(sqlOf(`inkfast.${table}`, version)))),
      }
    },
  },
]

const said = (id: string, role = 'user') => ({ id, role, parts: [{ type: 'text', text: `said in ${id}` }] })

async function talk(store: Store): Promise<Session> {
  const session = await store.session('s')
  await session.configure({ model: 'm' })
  const { id } = await session.attachments.put(new TextEncoder().encode('bytes'), { mediaType: 'text/plain' })
  await session.attachments.put(new TextEncoder().encode('left'), { mediaType: 'text/plain' })
  await session.commitTurn({ turn: 't', nodes: [{ id: 'n', parent: null, payload: 1 }], messages: [said('a')], attachments: [id] })
  await session.thread.add(said('b', 'assistant'))
  return session
}

type Reads = Readonly<Record<string, (session: Session, store: Store, open: Place['open']) => Promise<unknown>>>

/** The reads of each record, and what the error calls it. */
const records: readonly { readonly table: string; readonly record: string; readonly reads: Reads }[] = [
  {
    table: 'messages',
    record: 'message',
    reads: {
      get: ({ thread }) => thread.get('b'),
      messages: ({ thread }) => thread.messages(),
      'messages before one': ({ thread }) => thread.messages({ before: 'b' }),
      'messages of a branch': ({ thread }) => thread.messages({ branch: 'b' }),
      record: ({ thread }) => thread.record('b'),
      'record, setting it': ({ thread }) => thread.record('b', { cost: 1 }),
      add: ({ thread }) => thread.add(said('b', 'assistant')),
      'add under a parent': ({ thread }) => thread.add(said('c'), { parent: 'b' }),
      update: ({ thread }) => thread.update('b', (message) => message),
      remove: ({ thread }) => thread.remove('b'),
      erase: ({ thread }) => thread.erase('b', { reason: 'r' }),
      repair: ({ thread }) => thread.repair(),
      stream: async ({ thread }) => thread.stream('b').write({ type: 'start-step' }),
      info: ({ thread }) => thread.info(),
      turn: (session) => session.commitTurn({ turn: 't2', messages: [said('b', 'assistant')] }),
      fork: async (session, store) => session.fork({ at: (await store.head()).seq }),
      'sessions.list': (_, store) => store.sessions.list({ summary: true }),
    },
  },
  {
    table: 'threads',
    record: 'thread',
    reads: {
      get: ({ thread }, store) => store.threads.get(thread.id),
      list: ({ threads }) => threads.list(),
      info: ({ thread }) => thread.info(),
      add: ({ thread }) => thread.add(said('c')),
      rename: ({ thread }) => thread.rename('new'),
      archive: ({ thread }) => thread.archive(),
      fork: async (session, store) => session.fork({ at: (await store.head()).seq }),
    },
  },
  {
    table: 'sessions',
    record: 'session',
    reads: {
      open: (_, store) => store.session('s'),
      find: (_, store) => store.sessions.find('s'),
      get: ({ id }, store) => store.sessions.get(id),
      list: (_, store) => store.sessions.list(),
      append: async ({ id }, _, open) => (await open()).appendAll([{ session: id, type: 'a.b', data: 1 }]),
      head: (session) => session.head(),
      rename: (session) => session.rename('new'),
      archive: (session) => session.archive(),
      fork: async (session, store) => session.fork({ at: (await store.head()).seq }),
    },
  },
  {
    table: 'session_heads',
    record: 'head',
    reads: {
      head: (session) => session.head(),
      path: ({ graph }) => graph.path(),
      turn: (session) => session.commitTurn({ turn: 't2', nodes: [] }),
      fork: async (session, store) => session.fork({ at: (await store.head()).seq }),
      'sessions.list': (_, store) => store.sessions.list({ summary: true }),
    },
  },
  {
    table: 'graph_nodes',
    record: 'node',
    reads: {
      node: ({ graph }) => graph.node('n'),
      list: ({ graph }) => graph.list(),
      path: ({ graph }) => graph.path(),
      fork: async (session, store) => session.fork({ at: (await store.head()).seq }),
    },
  },
  { table: 'turns', record: 'turn', reads: { turn: (session) => session.commitTurn({ turn: 't', nodes: [] }) } },
  {
    table: 'attachments',
    record: 'attachment',
    reads: {
      list: ({ attachments }) => attachments.list(),
      uncommitted: async (_, store) => store.attachments.uncommitted({ olderThan: 0 })[Symbol.asyncIterator]().next(),
      sweep: (_, store) => store.attachments.sweep({ olderThan: 0 }),
      fork: async (session, store) => session.fork({ at: (await store.head()).seq }),
    },
  },
]

const VERSIONS = [
  [undefined, 'RECORD_VERSION_MISSING'],
  ['"1"', 'RECORD_VERSION_INVALID'],
  ['2', 'RECORD_VERSION_UNEQUAL'],
] as const

describe.each(engines)('schema versions of records on $name', ({ make }) => {
  test.each(records)(
    'every read of a $record refuses one with a version that is missing, no number, or another',
    async ({ table, record, reads }) => {
      for (const [version, code] of VERSIONS) {
        const { open, damage } = await make()
        const session = await talk(await open())
        // A store that remembers nothing, and a handle from before the damage.
        const other = await open()
        const seen = (await other.sessions.get(session.id)) as Session
        await expectSound(other)
        await damage(table, version)
        const { seq } = await other.head()
        for (const [name, read] of Object.entries(reads)) {
          const outcome = await read(seen, other, open).then(
            () => ({ code: 'no error' }),
            (error) => error,
          )
          expect({ name, code: outcome.code, record: outcome.details?.record }).toEqual({ name, code, record })
        }
        expect((await other.head()).seq).toBe(seq)
      }
    },
  )
})
