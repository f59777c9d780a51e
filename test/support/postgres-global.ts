// One PostgreSQL for a whole test run, started when the first test file asks for it: runs without such tests pay nothing.
// INKFAST_TEST_POSTGRES=postgres://… is used instead when it is set; its login must be a superuser.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { placeInMemory } from './in-memory.ts'
import { dropDatabases } from './postgres-database.ts'
import { type Server, startServer } from './postgres-server.ts'
import { QUICK } from './rounds.ts'

/** The answer to a test file that asks. */
export type Answer = { readonly url: string } | { readonly error: string }

declare module 'vitest' {
  export interface ProvidedContext {
    /** The server's URL, or the socket to ask for it, and the prefix of the templates that this run makes. */
    readonly postgres: ({ readonly url: string } | { readonly socket: string }) & { readonly templates: string }
  }
}

export function setup(project: TestProject): () => Promise<void> {
  const templates = `inkfast_template_${process.pid}`
  const url = process.env.INKFAST_TEST_POSTGRES
  if (url) {
    project.provide('postgres', { url, templates })
    return () => dropDatabases(url, `${templates}_`)
  }

  let server: Promise<Server> | undefined
  const answer = async (socket: Socket): Promise<void> => {
    // One that went away without waiting for its answer has failed for a reason of its own.
    socket.on('error', () => {})
    // Hundreds of databases come and go, each of 300 files: 15 ms in memory, up to 300 ms on a disk.
    const dataIn = placeInMemory()
    server ??= QUICK
      ? Promise.reject(new Error('This test needs a server, and npm run quick starts none.'))
      : startServer({ ...(dataIn !== undefined && { dataIn }), settings: { max_wal_size: '256MB' } })
    const said: Answer = await server.then(
      (running) => ({ url: running.url }),
      (error: Error) => ({ error: error.message }),
    )
    socket.end(JSON.stringify(said))
  }

  const folder = mkdtempSync(join(tmpdir(), 'inkfast-test-'))
  const path = join(folder, 'postgres')
  const door = createServer((socket) => void answer(socket)).listen(path)
  door.unref()
  project.provide('postgres', { socket: path, templates })

  return async () => {
    door.close()
    // A start that failed was told to whoever asked for it.
    const running = await server?.catch(() => undefined)
    await running?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
