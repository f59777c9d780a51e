// LangGraph's own SQLite saver, with its code as installed. It runs on `node:sqlite` instead of better-sqlite3, which would have to be compiled;
// its file has the same size on either. FULL, as ours.

import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'

export interface Peer {
  readonly saver: BaseCheckpointSaver
  close(): void
}

export async function sqliteSaver(file: string): Promise<Peer> {
  // The peers have a folder of their own, so the compiler does not know this module.
  const name = '@langchain/langgraph-checkpoint-sqlite'
  const { SqliteSaver } = (await import(name)) as { SqliteSaver: new (database: object) => BaseCheckpointSaver }
  const database = new DatabaseSync(file)
  database.exec('pragma synchronous = full')
  return { saver: new SqliteSaver(likeBetterSqlite(database)), close: () => database.close() }
}

/** The calls of better-sqlite3 that the saver makes. */
function likeBetterSqlite(database: DatabaseSync): object {
  const bind = (values: readonly unknown[]): SQLInputValue[] =>
    values.map((value) => (value === undefined ? null : (value as SQLInputValue)))
  return {
    pragma: (text: string) => database.exec(`pragma ${text}`),
    exec: (sql: string) => database.exec(sql),
    prepare: (sql: string) => {
      const statement = database.prepare(sql)
      return {
        run: (...values: unknown[]) => statement.run(...bind(values)),
        get: (...values: unknown[]) => statement.get(...bind(values)),
        all: (...values: unknown[]) => statement.all(...bind(values)),
      }
    },
    transaction:
      (work: (...values: unknown[]) => unknown) =>
      (...values: unknown[]) => {
        database.exec('begin')
        const result = work(...values)
        database.exec('commit')
        return result
      },
  }
}
