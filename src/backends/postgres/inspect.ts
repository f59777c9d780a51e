// Findings about a server for its operator: not whether a store can be opened there, but whether it is run well.

import { randomUUID } from 'node:crypto'
import { InkError } from '../../model/errors.ts'
import type { Connections } from './connections.ts'
import type { Database } from './database.ts'
import { missingGuards, standingGuards } from './guards.ts'
import { schemaRange } from './migrate.ts'
import { type Opened, type OpenOptions, openDatabase } from './open.ts'
import { STORE } from './wall.ts'

export interface Finding {
  readonly name: string
  readonly state: 'ok' | 'warn'
  readonly found: string
  readonly todo?: string
}

const HEARS_WITHIN_MS = 2000
const CHANNEL = 'inkfast_doctor'
// Nodes open connections in bursts, so enough for one more must be left.
const CONNECTIONS_LEFT_LEAST = 20

const facts = `
  select current_setting('server_version'), session_user, (select max(number) from inkfast.migrations), current_setting('fsync'),
    current_setting('full_page_writes'), current_setting('data_checksums'), current_setting('max_connections')::integer
      - current_setting('superuser_reserved_connections')::integer,
    (select sum(numbackends) from pg_stat_database)`

const ok = (name: string, found: string): Finding => ({ name, state: 'ok', found })
const warn = (name: string, found: string, todo: string): Finding => ({ name, state: 'warn', found, todo })

export interface InspectOptions {
  readonly url: string
  readonly tenantKey?: Uint8Array | string
}

/** Opens the store as a program would, without changing anything. It throws if a program could not open it. */
export async function inspectDatabase(options: InspectOptions): Promise<readonly Finding[]> {
  const { db, powerful } = await openToInspect({
    ...options,
    create: false,
    migrate: false,
    durability: 'normal',
    connections: 2,
    unguarded: true,
  })
  try {
    const [rows, triggers = []] = await db.read(STORE, { text: facts }, standingGuards)
    const [version, login, schema, fsync, whole, checksums, most, used] = rows?.[0] ?? []
    return [
      ok('server', `PostgreSQL ${version}`),
      powerful
        ? warn(
            'login',
            `${login} ${powerful}; statements run as inkfast_app, but SQL that is slipped into one can reset the role and leave the wall`,
            'In production use a login that is a member of inkfast_app and of nothing else, and this one for inkfast migrate.',
          )
        : ok('login', `${login} is a member of ${db.readOnly ? 'inkfast_reader' : 'inkfast_app'} and of nothing more`),
      ok('wall', 'a canary tenant is seen by nobody else'),
      schemaFinding(Number(schema)),
      guardFinding(missingGuards(triggers)),
      ...flushFindings(fsync === 'on', whole === 'on'),
      checksums === 'on'
        ? ok('checksums', 'on')
        : warn(
            'checksums',
            'pages have none, so a disk that changes them goes unnoticed',
            'Stop the server and run pg_checksums --enable.',
          ),
      connectionsFinding(Number(most), Number(used)),
      await hearingFinding(db),
    ]
  } finally {
    await db.close()
  }
}

/** A login that may only read can inspect too. */
const openToInspect = (options: OpenOptions): Promise<Opened> =>
  openDatabase(options).catch((error: unknown) => {
    if (error instanceof InkError && error.code === 'DATABASE_RIGHT_MISSING') return openDatabase({ ...options, readOnly: true })
    throw error
  })

function schemaFinding(found: number): Finding {
  const { knows } = schemaRange
  if (found > knows) return ok('schema', `${found}, newer than the ${knows} this version knows, and made so that it may go on serving`)
  if (found < knows) return warn('schema', `${found}; this version would like ${knows}`, 'Run inkfast migrate.')
  return ok('schema', String(found))
}

/** Triggers refuse forbidden changes of the journal. */
function guardFinding(gone: readonly string[]): Finding {
  if (gone.length === 0) return ok('guards', 'every trigger is there and turned on')
  const todo = 'Somebody changed the schema: run inkfast verify and rebuild --check, then inkfast migrate, which restores them.'
  return warn('guards', `missing or turned off: ${gone.join(', ')}`, todo)
}

const flushFindings = (fsync: boolean, whole: boolean): readonly Finding[] => [
  fsync
    ? ok('fsync', 'on: what is acknowledged survives a power cut')
    : warn(
        'fsync',
        'off: what is acknowledged may be lost in a power cut, and the database with it',
        'Set fsync = on and restart the server.',
      ),
  ...(whole
    ? []
    : [
        warn(
          'full_page_writes',
          'off: a power cut may leave torn pages',
          'Set full_page_writes = on, unless the file system rules that out.',
        ),
      ]),
]

function connectionsFinding(most: number, used: number): Finding {
  const found = `${used} of ${most} in use; a node uses up to 11`
  if (most - used >= CONNECTIONS_LEFT_LEAST) return ok('connections', found)
  return warn('connections', found, 'Raise max_connections, lower the option connections, or put a pooler in between.')
}

async function hearingFinding({ connections }: Database): Promise<Finding> {
  if (await hears(connections)) return ok('signals', 'notifications come through')
  return warn(
    'signals',
    'no notification comes through, as behind a transaction pooler: other nodes are noticed once a second only',
    'Open the store with listenUrl, a url that leads to the server itself.',
  )
}

/** Sends a notification to itself and waits for it. */
async function hears({ listen }: Connections): Promise<boolean> {
  if (!listen) return false
  const word = randomUUID()
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const ear = await listen(CHANNEL, (name) => name === word && resolve(true), reject)
  const late = setTimeout(() => resolve(false), HEARS_WITHIN_MS)
  try {
    await ear.tell([word])
    return await promise
  } finally {
    clearTimeout(late)
    await ear.close()
  }
}
