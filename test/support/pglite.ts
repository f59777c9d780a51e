// PostgreSQL inside the process, as a driver of the backend. It has one connection: whoever holds it keeps everyone else waiting.

import { PGlite } from '@electric-sql/pglite'
import type { Cell, Cells, Connection, Connections, Step } from '../../src/backends/postgres/connections.ts'
import { EMPTY } from './postgres-database.ts'

export async function startPglite(): Promise<PGlite> {
  return PGlite.create()
}

/** Removes the data and keeps the schema, because creating it again takes most of a second. */
export const emptyPglite = async (lite: PGlite): Promise<void> => void (await lite.exec(EMPTY))

export function liteConnections(lite: PGlite): Connections {
  let turn: Promise<unknown> = Promise.resolve()
  return {
    place: 'postgres://pglite',
    local: true,
    acquire: async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const before = turn
      turn = promise
      await before
      return connection(lite, resolve)
    },
    close: async () => {},
  }
}

function connection(lite: PGlite, release: () => void): Connection {
  let held = false
  const ask = async ({ text, values = [] }: Step): Promise<readonly Cells[]> => {
    const { rows } = await lite.query<unknown[]>(text, [...values], { rowMode: 'array' })
    return rows.map((row) => row.map(cellOf))
  }
  return {
    run: async (steps) => {
      const first = steps[0]?.text ?? ''
      const own = !held && !first.startsWith('begin')
      if (own) await lite.exec('begin')
      if (first.startsWith('begin')) held = true
      try {
        const results: (readonly Cells[])[] = []
        for (const step of steps) results.push(await ask(step))
        if (own) await lite.exec('commit')
        if (first === 'commit' || first === 'rollback') held = false
        return results
      } catch (error) {
        if (own) await lite.exec('rollback')
        throw error
      }
    },
    script: async (text) => {
      await lite.exec(text)
      if (text.startsWith('begin') && !text.trimEnd().endsWith('commit')) held = true
      if (text === 'commit' || text === 'rollback') held = false
    },
    release,
  }
}

/** As the wire would say it. */
function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  if (typeof value === 'boolean') return value ? 't' : 'f'
  // The one kind of array that is asked for; every other list is JSON.
  if (Array.isArray(value) && value.some((item) => item instanceof Uint8Array))
    return `{${value.map((item) => JSON.stringify(cellOf(item))).join(',')}}`
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
