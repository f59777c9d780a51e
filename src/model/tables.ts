// Every table of rows, declared once: its indexed columns, and its indexes. Every row also has tenant, id, born, revision and a body of
// canonical JSON, so a new field that is not indexed needs no change here. `node scripts/schema.ts` generates the tables of both SQL
// backends from this page and from side-tables.ts; both backends build their statements from it too.

export type ColumnType = 'text' | 'integer'

export interface Table {
  /** Folded from the journal, or a cache of the same shape that `rebuild` leaves alone. */
  readonly authority: 'journal' | 'cache'
  /** Indexed columns, each a member of the body under the same name; absent members are null. */
  readonly columns: Readonly<Record<string, ColumnType>>
  /** Columns that are a member of a member: the names on the way to it. */
  readonly paths?: Readonly<Record<string, readonly [string, string]>>
  /** Each index begins with the tenant and ends with the id, so that a cursor is always exact. `born` and `revision` may be indexed too. */
  readonly indexes: Readonly<Record<string, readonly string[]>>
  /** Has a fence: the seq of the event that last granted it to someone. */
  readonly fenced?: boolean
  /** Yes-or-no columns that a SQL backend keeps for its own queries. Triggers derive them from the rows; they are no part of a row. */
  readonly flags?: readonly string[]
  /** Has a text column `terms`, which the word index is made from (model/text/indexed-text.ts). With a thread, rows have neighbours. */
  readonly text?: { readonly thread?: 'thread' }
  /** Indexes that leave out rows without a value in this column. They are read for a given value only. */
  readonly sparse?: Readonly<Record<string, string>>
  /** Bodies are large, so SQLite keeps rows in the order of writing and the key in an index of its own. */
  readonly large?: boolean
  /** Indexes over some of the rows, for the queries of model/queries.ts and for searches. */
  readonly partialIndexes?: Readonly<Record<string, PartialIndex>>
}

export interface PartialIndex {
  readonly columns: readonly string[]
  /** SQL that both engines read. */
  readonly where: string
  /** Absent where every engine has the index. */
  readonly engine?: 'postgres'
}

export const tables = {
  sessions: {
    authority: 'journal',
    columns: { state: 'text', owner: 'text', branch: 'text', relation: 'text', parent: 'text' },
    paths: { relation: ['relation', 'kind'], parent: ['relation', 'session'] },
    indexes: {
      byBorn: ['born'],
      byState: ['state', 'born'],
      byOwner: ['owner', 'born'],
      byOwnerAndState: ['owner', 'state', 'born'],
      byBranch: ['branch', 'born'],
      byRelation: ['relation', 'born'],
      byParent: ['parent', 'born'],
    },
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
  // `at` is when a worker must look at the item again: when it is due, or when its claim expires. It is null if only another write can
  // change the item.
  work: {
    authority: 'journal',
    columns: { queue: 'text', state: 'text', priority: 'integer', at: 'integer', series: 'text' },
    indexes: { byDue: ['queue', 'at'], byReady: ['queue', 'state', 'priority', 'at', 'born'] },
    fenced: true,
    // `behind` marks items that wait for an older one of their series. Rows of one statement do not see each other on PostgreSQL, so its
    // triggers look up the front of a series by an index.
    flags: ['behind'],
    partialIndexes: {
      bySeries: { columns: ['series', 'born'], where: "series is not null and state is distinct from 'dead'" },
      byTurn: { columns: ['queue', 'priority', 'at', 'born'], where: "state = 'ready' and not behind" },
      byFront: {
        columns: ['series', 'born'],
        where: "series is not null and state is distinct from 'dead' and not behind",
        engine: 'postgres',
      },
    },
  },
  approvals: {
    authority: 'journal',
    columns: { state: 'text', run: 'text', expires: 'integer', subject: 'text', digest: 'text', key: 'text' },
    indexes: {
      byBorn: ['born'],
      byState: ['state', 'born'],
      byRun: ['run', 'born'],
      byExpiry: ['state', 'expires'],
      bySubject: ['subject', 'born'],
      byDigest: ['digest', 'born'],
      byKey: ['key', 'born'],
    },
  },
  signals: {
    authority: 'journal',
    columns: { session: 'text', name: 'text', state: 'text' },
    indexes: { bySession: ['session', 'name', 'state', 'born'] },
  },
  jobs: {
    authority: 'journal',
    columns: { state: 'text', queue: 'text' },
    indexes: { byBorn: ['born'], byState: ['state', 'born'], byQueue: ['queue', 'born'] },
  },
  occurrences: {
    authority: 'journal',
    columns: { job: 'text', state: 'text', due: 'integer' },
    indexes: { byJob: ['job', 'due'], byJobAndState: ['job', 'state', 'due'] },
  },
  triggers: {
    authority: 'journal',
    columns: { source: 'text', state: 'text' },
    indexes: { byBorn: ['born'], byState: ['state', 'born'], bySource: ['source', 'state', 'born'] },
  },
  // Changes with every trigger of the source, so that a guard on it makes a firing see all of them.
  sources: {
    authority: 'journal',
    columns: {},
    indexes: { byBorn: ['born'] },
  },
  firings: {
    authority: 'journal',
    columns: { source: 'text' },
    indexes: { byBorn: ['born'], bySource: ['source', 'born'] },
    large: true,
  },
  deliveries: {
    authority: 'journal',
    columns: { firing: 'text', trigger_id: 'text', state: 'text' },
    indexes: { byFiring: ['firing', 'born'], byTrigger: ['trigger_id', 'born'], byState: ['state', 'born'] },
  },
  processes: {
    authority: 'journal',
    columns: { state: 'text', kind: 'text', wake: 'text' },
    indexes: { byBorn: ['born'], byState: ['state', 'born'], byKind: ['kind', 'born'], byWake: ['wake', 'born'] },
  },
  process_events: {
    authority: 'journal',
    columns: { process: 'text', number: 'integer', type: 'text' },
    indexes: { byProcess: ['process', 'number'], byType: ['process', 'type', 'number'] },
    large: true,
  },
  grants: {
    authority: 'journal',
    columns: { session: 'text', process: 'text' },
    indexes: { bySession: ['session', 'born'], byProcess: ['process', 'born'] },
  },
  inputs: {
    authority: 'journal',
    columns: { session: 'text', state: 'text', run: 'text' },
    indexes: { bySession: ['session', 'born'], bySessionAndState: ['session', 'state', 'born'], byRun: ['run', 'state', 'born'] },
    large: true,
  },
  inbox: {
    authority: 'journal',
    columns: { session: 'text', state: 'text' },
    indexes: { bySession: ['session', 'born'], bySessionAndState: ['session', 'state', 'born'] },
    large: true,
  },
  permits: {
    authority: 'journal',
    columns: { digest: 'text', session: 'text', state: 'text' },
    indexes: { byBorn: ['born'], byDigest: ['digest', 'state', 'born'], bySession: ['session', 'state', 'born'] },
  },
  // One row per session, source, model and UTC hour; `hour` is when the hour begins.
  usage: {
    authority: 'journal',
    columns: { session: 'text', hour: 'integer' },
    indexes: { byHour: ['hour'], bySession: ['session', 'hour'] },
  },
  state: {
    authority: 'journal',
    columns: { session: 'text', key: 'text', expires: 'integer' },
    indexes: { byKey: ['session', 'key'], byExpiry: ['expires'] },
  },
  snapshots: {
    authority: 'journal',
    columns: { session: 'text' },
    indexes: { byBorn: ['born'] },
  },
  canvases: {
    authority: 'journal',
    columns: { session: 'text', name: 'text' },
    indexes: { byBorn: ['born'], byChange: ['revision'], bySession: ['session', 'name'] },
  },
  canvas_snapshots: {
    authority: 'journal',
    columns: { session: 'text', canvas: 'text', version: 'integer' },
    indexes: { byCanvas: ['canvas', 'version'], bySession: ['session', 'born'] },
  },
  artifacts: {
    authority: 'journal',
    columns: {},
    indexes: { byBorn: ['born'] },
  },
  // `starts` and `ends` are when the item is true. `born` numbers the items: neighbours of a thread are in that order.
  memory: {
    authority: 'journal',
    columns: {
      about: 'text',
      state: 'text',
      at: 'integer',
      thread: 'text',
      expires: 'integer',
      starts: 'integer',
      ends: 'integer',
      terms: 'text',
    },
    text: { thread: 'thread' },
    paths: { starts: ['valid', 'from'] },
    indexes: {
      byBorn: ['born'],
      byState: ['state', 'born'],
      byAbout: ['about', 'state', 'born'],
      byExpiry: ['expires'],
      byStart: ['starts'],
      byEnd: ['ends'],
    },
    // Neighbours are found in the index alone.
    partialIndexes: { byThread: { columns: ['thread', 'born'], where: 'thread is not null and terms is not null' } },
    large: true,
  },
  core: {
    authority: 'journal',
    columns: { owner: 'text', session: 'text' },
    indexes: { byOwner: ['owner', 'born'], bySession: ['session', 'born'] },
  },
  threads: {
    authority: 'journal',
    columns: { session: 'text', owner: 'text' },
    indexes: { byBorn: ['born'], bySession: ['session', 'born'], byOwner: ['owner', 'born'] },
  },
  // The order of a thread is the order in which its messages were added: by `born`.
  messages: {
    authority: 'journal',
    columns: { session: 'text', thread: 'text', execution: 'text' },
    indexes: { byThread: ['session', 'thread', 'born'], byExecution: ['session', 'execution', 'born'] },
    sparse: { byExecution: 'execution' },
    large: true,
  },
  // One row per session that has settings, a graph or a checkpoint. Its id follows from the session.
  session_heads: {
    authority: 'journal',
    columns: { session: 'text' },
    indexes: { bySession: ['session', 'born'] },
  },
  graph_nodes: {
    authority: 'journal',
    columns: { session: 'text', state: 'text', parent: 'text', frame: 'text' },
    indexes: {
      bySession: ['session', 'state', 'born'],
      byParent: ['session', 'state', 'parent', 'born'],
      byFrame: ['session', 'state', 'frame', 'born'],
    },
    large: true,
  },
  turns: {
    authority: 'journal',
    columns: { session: 'text' },
    indexes: { bySession: ['session', 'born'] },
  },
  // `content` is the digest of the bytes, once they are stored; `at` is the time of the intent.
  attachments: {
    authority: 'journal',
    columns: { session: 'text', state: 'text', content: 'text', at: 'integer' },
    indexes: {
      bySession: ['session', 'born'],
      byContent: ['session', 'content', 'born'],
      byState: ['state', 'at'],
    },
  },
  pins: {
    authority: 'journal',
    columns: {},
    indexes: { byBorn: ['born'] },
  },
  vector_collections: {
    authority: 'journal',
    columns: { state: 'text', name: 'text' },
    indexes: { byName: ['state', 'name'] },
  },
  // Documents with their vectors. The matrix that searches use is built from these rows, in memory.
  vectors: {
    authority: 'journal',
    columns: { collection: 'text' },
    indexes: { byCollection: ['collection'] },
    large: true,
  },
} as const satisfies Record<string, Table>

export type TableName = keyof typeof tables
export const tableNames = Object.keys(tables) as readonly TableName[]
export const tableOf = (name: TableName): Table => tables[name]

/** The tables that are searched by words. */
export type TextTable = { [T in TableName]: (typeof tables)[T] extends { readonly text: object } ? T : never }[TableName]

export type ColumnValue = string | number | null

/** The id of the row that reserves a user-chosen key. */
export const nameId = (kind: string, key: string): string => `${kind}:${key}`
