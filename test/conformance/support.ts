// How the suite opens our own backends, and which of its cases they do not keep yet.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { type OpenBackend, openMemory } from '../../src/conformance/index.ts'
import type { Backend } from '../../src/ports/backend.ts'

export const openSqlite: OpenBackend = async (options) => {
  const folder = mkdtempSync(join(tmpdir(), 'inkfast-conformance-'))
  const handles: Backend[] = []
  const handle = async (): Promise<Backend> => {
    const backend = await sqliteBackend({ path: join(folder, 'store.db'), ...(options?.now && { now: options.now }) })
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

export interface Engine {
  readonly name: string
  readonly open: OpenBackend
  /** Cases that fail today. A case that is here and passes is reported, so that the list only ever gets shorter. */
  readonly awaiting: readonly string[]
}

export const engines: readonly Engine[] = [
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
]
