// What the backend asks of a driver: connections that take several statements in one round trip and one transaction. Values come and go as
// text, because their meaning is known where they are used; bytes go as bytes.

export type Value = string | number | boolean | null | Uint8Array
export type Cell = string | null
export type Cells = readonly Cell[]

export interface Step {
  readonly text: string
  readonly values?: readonly Value[]
  /** Few texts are asked again and again: those are prepared once on each connection. */
  readonly prepared?: boolean
}

export interface Connection {
  /** One round trip. Outside of `begin` it is one transaction; the answer has the rows of every step. */
  run(steps: readonly Step[], timeoutMs: number): Promise<readonly (readonly Cells[])[]>
  /** A script of several statements without values, as migrations are. */
  script(text: string): Promise<void>
  /** Gives it back; a broken one is thrown away. */
  release(broken?: boolean): void
}

/** The one connection that listens and tells, apart from the others. */
export interface Ear {
  /** Tells everyone who listens, ourselves included. */
  tell(names: readonly string[]): Promise<void>
  /** Whether it keeps a program alive. */
  hold(held: boolean): void
  close(): Promise<void>
}

export interface Connections {
  /** Where it leads, without a password: for messages. */
  readonly place: string
  /** The place is this machine: a socket or the loopback. */
  readonly local: boolean
  acquire(): Promise<Connection>
  /** Absent where a driver has no second connection to listen on. */
  listen?(channel: string, heard: (name: string) => void, lost: (error: unknown) => void): Promise<Ear>
  close(): Promise<void>
}

/** From here on names mean what they mean to the server itself, whatever else lies in its schemas: for the rest of a transaction. */
export const PLAIN_NAMES = `select pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)`

/** The same connection for statements that run with more rights than the app role has: nothing that others made is called in them. */
export const carefully = (connection: Connection): Connection => ({
  ...connection,
  run: async (steps, timeoutMs) => (await connection.run([{ text: PLAIN_NAMES }, ...steps], timeoutMs)).slice(1),
})
