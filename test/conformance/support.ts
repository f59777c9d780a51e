// How the suite opens our own backends, and which of its cases they do not keep yet.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backendOn, postgresBackend } from '../../src/backends/postgres/backend.ts'
import { openOver } from '../../src/backends/postgres/open.ts'
import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { folderBackend } from '../../src/backends/sqlite/folder.ts'
import { type OpenBackend, openMemory } from '../../src/conformance/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { putFreshFile } from '../support/fresh-file.ts'
import { placeInMemory } from '../support/in-memory.ts'
import { emptyPglite, liteConnections, startPglite } from '../support/pglite.ts'
import { borrowDatabase, giveBack } from '../support/reused-databases.ts'
import { LONG } from '../support/rounds.ts'

// What is tried here is what a backend says and keeps, not what a power cut leaves of it.
const place = placeInMemory() ?? tmpdir()

/** Somewhere to open a backend, as often as wanted. */
const inTempFolder =
  (make: (folder: string, now: (() => number) | undefined) => Promise<Backend>): OpenBackend =>
  async (options) => {
    const folder = mkdtempSync(join(place, 'inkfast-conformance-'))
    const handles: Backend[] = []
    const handle = async (): Promise<Backend> => {
      const backend = await make(folder, options?.now)
      handles.push(backend)
      return backend
    }
    return {
      backend: await handle(),
      second: handle,
      reopen: async () => {
        for (const open of handles) await open.close()
        return handle()
      },
      dispose: async () => rmSync(folder, { recursive: true, force: true }),
    }
  }

export const openSqlite = inTempFolder((folder, now) => {
  const path = join(folder, 'store.db')
  if (!existsSync(path)) putFreshFile(path)
  return sqliteBackend({ path, ...(now && { now }) })
})

// Fewer files may be open than the cases and walks have tenants, so that files are closed and opened again on the way.
export const openFolder = inTempFolder((path, now) => folderBackend({ path, openFiles: 2, ...(now && { now }) }))

export const openPostgres: OpenBackend = async () => {
  const lent = await borrowDatabase()
  const handles: Backend[] = []
  const keep = (backend: Backend): Backend => {
    handles.push(backend)
    return backend
  }
  // One that is opened again passes all checks of opening. The others spare them, and the connections that they take.
  const anew = async () => keep(await postgresBackend({ url: lent.url, connections: 4 }))
  const handle = async () => (LONG ? anew() : keep(lent.backend()))
  return {
    backend: await handle(),
    ownClock: true,
    oneIndexPerShape: !LONG,
    second: handle,
    reopen: async () => {
      for (const open of handles) await open.close()
      return anew()
    },
    dispose: async () => giveBack(lent),
  }
}

let lite: ReturnType<typeof startPglite> | undefined

export const openPglite: OpenBackend = async () => {
  lite ??= startPglite()
  const db = await lite
  await emptyPglite(db)
  const handle = async (): Promise<Backend> => {
    const options = { url: '', durability: 'normal' } as const
    return backendOn(await openOver(options, liteConnections(db)), options)
  }
  const backend = await handle()
  return {
    backend,
    ownClock: true,
    oneIndexPerShape: !LONG,
    reopen: async () => {
      await backend.close()
      return handle()
    },
  }
}

export interface Engine {
  readonly name: string
  readonly open: OpenBackend
  /** Cases that fail today. A case that is here and passes is reported, so that the list only ever gets shorter. */
  readonly awaiting: readonly string[]
  /** Cases that cannot be asked of it, and why. */
  readonly skips?: Readonly<Record<string, string>>
}

const oneConnection = 'PGlite has one connection, and a snapshot holds it: nothing else can be asked meanwhile'

const all: readonly Engine[] = [
  {
    name: 'memory',
    open: openMemory,
    awaiting: [],
  },
  {
    name: 'sqlite',
    open: openSqlite,
    awaiting: [],
  },
  {
    name: 'sqlite folder',
    open: openFolder,
    awaiting: [],
  },
  {
    name: 'postgres',
    open: openPostgres,
    awaiting: [],
  },
  {
    name: 'pglite',
    open: openPglite,
    awaiting: [],
    skips: {
      'an erased payload is gone through every reading': oneConnection,
      'commits, erasures and removals after a snapshot are not seen in it': oneConnection,
    },
  },
]

/** PGlite is the SQL of the server on another driver, and slow: a short run leaves it out. */
export const engines = all.filter(({ name }) => LONG || name !== 'pglite')

/** Those whose promises take longest to see, and are seen in a file of their own. */
export const onServers: readonly string[] = ['postgres', ...(LONG ? ['pglite'] : [])]
