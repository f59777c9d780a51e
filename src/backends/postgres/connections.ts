// The driver that the backend expects: connections that run several statements in one round trip and one transaction. Values are sent and
// received as text, and bytes are sent as bytes.

export type Value = string | number | boolean | null | Uint8Array
export type Cell = string | null
export type Cells = readonly Cell[]

export interface Step {
  readonly text: string
  readonly values?: readonly Value[]
  /** The statement is used often, so it is prepared once per connection. */
  readonly prepared?: boolean
  /** The tenant that this step enters. Steps without one run for the tenant that an earlier step of the round trip entered. */
  readonly tenant?: string
}

export interface Connection {
  /** Runs the steps in one round trip, which is one transaction unless `begin` was called. Returns the rows of every step. */
  run(steps: readonly Step[], timeoutMs: number): Promise<readonly (readonly Cells[])[]>
  /** Runs a script of several statements without values, such as a migration. */
  script(text: string): Promise<void>
  /** Whether a transaction is open: `begin` opened it, or SQL that was slipped into a tenant's transaction. */
  readonly isOpen?: () => boolean
  /** Returns the connection to the pool; a broken one, or one with an open transaction, is destroyed. */
  release(broken?: boolean): void
}

/** The connection for LISTEN and NOTIFY, apart from the pool. */
export interface Ear {
  /** Notifies all listeners, including this node. */
  tell(names: readonly string[]): Promise<void>
  /** Sets whether the connection keeps the program alive. */
  hold(held: boolean): void
  close(): Promise<void>
}

export interface Connections {
  /** Host and database without login and password, for messages. */
  readonly place: string
  /** The server is on this machine: a socket or the loopback interface. */
  readonly local: boolean
  acquire(): Promise<Connection>
  /** Absent if the driver has no second connection to listen on. */
  listen?(channel: string, heard: (name: string) => void, lost: (error: unknown) => void): Promise<Ear>
  close(): Promise<void>
}

/** Resolves names only in the server's own schema for the rest of the transaction, so that objects of others are never called. */
export const PLAIN_NAMES = `select pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)`

/** The same connection for statements with more rights than the app role: they never call objects that others created. */
export const carefully = (connection: Connection): Connection => ({
  ...connection,
  run: async (steps, timeoutMs) => (await connection.run([{ text: PLAIN_NAMES }, ...steps], timeoutMs)).slice(1),
})
