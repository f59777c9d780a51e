// Engines whose tables a test changes behind the store's back.

import { DatabaseSync } from 'node:sqlite'
import type { Store } from '../../src/index.ts'
import { asSuperuser } from '../postgres/logins.ts'
import { openIn, tempDatabase, tempFile } from '../support/engines.ts'

type Row = Readonly<Record<string, unknown>>

export interface Stored {
  /** The file or the address of the database. */
  readonly at: string
  readonly store: Store
  readonly ask: (sql: string) => Promise<readonly Row[]>
  /** Bytes as a literal of this engine. */
  readonly bytes: (digits: string) => string
  readonly table: (name: string) => string
}

export const tampered: readonly { readonly name: string; readonly make: () => Promise<Stored> }[] = [
  {
    name: 'sqlite',
    make: async () => {
      const path = tempFile()
      const ask = async (sql: string) => {
        const db = new DatabaseSync(path)
        const rows = db.prepare(sql).all()
        db.close()
        return rows
      }
      return { at: path, store: await openIn(path), ask, bytes: (digits) => `x'${digits}'`, table: (name) => name }
    },
  },
  {
    name: 'postgres',
    make: async () => {
      const url = await tempDatabase()
      const ask = (sql: string) => asSuperuser(url, async (superuser) => (await superuser.query(sql)).rows as readonly Row[])
      return { at: url, store: await openIn(url), ask, bytes: (digits) => `'\\x${digits}'`, table: (name) => `inkfast.${name}` }
    },
  },
]
