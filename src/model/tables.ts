// Which rows exist, said once: the columns that are indexed, and by what. Every row also has tenant, id, born, revision and a body
// of canonical JSON; a new field that is not indexed needs no migration. Both SQL backends build their statements from this
// page, and a test holds the hand-written migrations equal to it.

export type ColumnType = 'text' | 'integer'

export interface Table {
  /** Folded from the journal, or a cache that `rebuild` leaves alone. */
  readonly authority: 'journal' | 'cache'
  /** Indexed columns, each a member of the body under the same name; absent members are null. */
  readonly columns: Readonly<Record<string, ColumnType>>
  /** Each index is completed with the id, so that a cursor is always exact. `born` and `revision` may be indexed too. */
  readonly indexes: Readonly<Record<string, readonly string[]>>
  /** Has a fence: the seq of the event that last granted it to someone. */
  readonly fenced?: boolean
}

export const tables = {
  sessions: {
    authority: 'journal',
    columns: { state: 'text', owner: 'text' },
    indexes: { byBorn: ['born'], byState: ['state', 'born'], byOwner: ['owner', 'born'], byOwnerAndState: ['owner', 'state', 'born'] },
  },
  // User-chosen keys: id is `kind:key`, so "still free" is always a guard on a primary key.
  names: {
    authority: 'journal',
    columns: { target: 'text' },
    indexes: { byTarget: ['target'] },
  },
  leases: {
    authority: 'journal',
    columns: { owner: 'text' },
    indexes: { byOwner: ['owner'] },
    fenced: true,
  },
  runs: {
    authority: 'journal',
    columns: { state: 'text', session: 'text', name: 'text', parent: 'text' },
    indexes: {
      byBorn: ['born'],
      byState: ['state', 'born'],
      bySession: ['session', 'born'],
      bySessionAndState: ['session', 'state', 'born'],
      byName: ['name', 'born'],
      byParent: ['parent', 'born'],
    },
  },
  // `at` is when somebody has to look at the item again: when it is due, or when its claim runs out; null when nothing will happen by itself.
  work: {
    authority: 'journal',
    columns: { queue: 'text', state: 'text', at: 'integer' },
    indexes: { byDue: ['queue', 'at'], byState: ['queue', 'state', 'born'] },
    fenced: true,
  },
  approvals: {
    authority: 'journal',
    columns: { state: 'text', run: 'text', expires: 'integer' },
    indexes: { byBorn: ['born'], byState: ['state', 'born'], byRun: ['run', 'born'], byExpiry: ['state', 'expires'] },
  },
  signals: {
    authority: 'journal',
    columns: { session: 'text', name: 'text', state: 'text' },
    indexes: { bySession: ['session', 'name', 'state', 'born'] },
  },
} as const satisfies Record<string, Table>

export type TableName = keyof typeof tables
export const tableNames = Object.keys(tables) as readonly TableName[]
export const tableOf = (name: TableName): Table => tables[name]

export type ColumnValue = string | number | null

/** The id of the row that says a user-chosen key is taken. */
export const nameId = (kind: string, key: string): string => `${kind}:${key}`
