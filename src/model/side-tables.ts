// Tables beside the rows: columns of their own, per tenant, not folded from the journal and not touched by `rebuild`. A backend writes them
// with statements of its own. `node scripts/schema.ts` generates them; on PostgreSQL each gets the tenant policy, its rights and no statistics.

/** A count stays below 2^31. */
export type SideColumnType = 'text' | 'integer' | 'count' | 'real' | 'blob'

export interface SideTable {
  /** Columns beside the tenant. A question mark says that the column may be null. */
  readonly columns: Readonly<Record<string, SideColumnType | `${SideColumnType}?`>>
  /** The primary key, behind the tenant. */
  readonly key: readonly string[]
  /** Columns that PostgreSQL keeps in the index of the key too, so that searches need not read the table. */
  readonly covers?: readonly string[]
  /**
   * Rows have a growing `id`, which the commit chooses, and `key` is a digest with an index of its own. For long rows, and where their order
   * matters.
   */
  readonly numbered?: boolean
  /** Each index begins with the tenant. */
  readonly indexes: Readonly<Record<string, readonly string[]>>
  /** Indexes for the store itself, which looks across tenants: they begin with their columns and end with the tenant. */
  readonly across?: Readonly<Record<string, readonly string[]>>
  /** Rights of the app role on PostgreSQL besides reading. */
  readonly rights: readonly ('insert' | 'update' | 'delete')[]
  /** Absent where every engine has the table. */
  readonly engine?: 'postgres'
}

export const sideTables = {
  // Kept for thirty days, so that a retry with the same key finds its first outcome. The digest covers the other columns.
  receipts: {
    columns: { key: 'blob', seq: 'integer', count: 'integer', body: 'blob', at: 'integer', digest: 'blob' },
    key: ['key'],
    indexes: { byAt: ['at'] },
    rights: ['insert', 'delete'],
  },
  // End times of leases and claims, as last renewed. Safe to lose: holders renew. A row counts only for the fence it names.
  renewals: {
    columns: { id: 'text', fence: 'integer', until: 'integer' },
    key: ['id'],
    indexes: {},
    rights: ['insert', 'update', 'delete'],
  },
  // When a queue of a tenant must be looked at next: never later than the earliest `at` of its items, perhaps earlier. Triggers on the items
  // lower it, a node that looks across tenants raises it. Safe to lose: `rebuild` makes it again.
  due: {
    columns: { queue: 'text', at: 'integer' },
    key: ['queue'],
    indexes: {},
    across: { byTime: ['queue', 'at'] },
    rights: [],
  },
  // Refused writes and denied requests, beside the hash chain; the newest 10,000 of each tenant. Safe to lose.
  audit: {
    columns: { id: 'text', at: 'integer', code: 'text', actor: 'text', noun: 'text', subject: 'text', count: 'integer' },
    key: ['id'],
    indexes: {},
    rights: ['insert', 'delete'],
  },
  // What working processes handle, and until when they count as live. Safe to lose: they write it again. Rows of the tenant `*` are of workers
  // that serve every tenant.
  workers: {
    columns: { id: 'text', version: 'text', queues: 'text', at: 'integer', until: 'integer' },
    key: ['id'],
    indexes: {},
    rights: ['insert', 'update', 'delete'],
  },
  // Nodes of values, named by their digest. Not safe to lose. Written in commits, removed by garbage collection.
  nodes: {
    columns: { ref: 'blob', at: 'integer', body: 'blob' },
    key: ['ref'],
    numbered: true,
    indexes: {},
    rights: ['insert', 'delete'],
  },
  // References of events to values and blobs. Garbage collection starts from them; the erasure of an event removes its own.
  refs: {
    columns: { seq: 'integer', ref: 'text' },
    key: ['seq', 'ref'],
    indexes: {},
    rights: ['insert', 'delete'],
  },
  // The garbage collection of nodes that is under way, one per tenant.
  collections: {
    columns: { number: 'integer', top: 'integer', active: 'integer' },
    key: [],
    indexes: {},
    rights: ['insert', 'update'],
  },
  // Nodes that a commit named or wrote again, long after they were written or while a collection was under way.
  named_nodes: {
    columns: { ref: 'blob', at: 'integer', number: 'integer' },
    key: ['ref'],
    indexes: { byNumber: ['number'] },
    rights: ['insert', 'update', 'delete'],
  },
  // The word index, made by triggers from the column `terms` of the table `source`. `rebuild` makes it again. Term ids belong to one tenant,
  // and postings hold numbers only. `doc` is the `born` of a row, `about` the term of its scope: a search in one scope reads only that scope.
  terms: {
    columns: { source: 'text', term: 'text', df: 'integer' },
    key: ['source', 'term'],
    numbered: true,
    indexes: {},
    rights: ['insert', 'update', 'delete'],
  },
  postings: {
    columns: {
      term: 'integer',
      about: 'integer',
      doc: 'integer',
      tf: 'count',
      tf_tags: 'count',
      tf_source: 'count',
      len: 'count',
    },
    key: ['term', 'about', 'doc'],
    covers: ['tf', 'tf_tags', 'tf_source', 'len'],
    indexes: {},
    rights: ['insert', 'delete'],
  },
  corpora: {
    columns: { source: 'text', docs: 'integer', total: 'integer' },
    key: ['source'],
    indexes: {},
    rights: ['insert', 'update', 'delete'],
  },
  // Blobs: immutable bytes named by their SHA-256 in hex. Not safe to lose. `stored` counts the bytes as they are stored, `number` is the last
  // collection under which the blob was put or named. On SQLite most bytes are files in a folder beside the store (`storage` is `file`).
  blobs: {
    columns: {
      digest: 'text',
      bytes: 'integer',
      stored: 'integer',
      storage: 'text',
      place: 'text',
      state: 'text',
      at: 'integer',
      number: 'integer',
    },
    key: ['digest'],
    indexes: {},
    rights: ['insert', 'update', 'delete'],
  },
  // The pieces of blobs, with their codec and the SHA-256 of their plain bytes. The body is absent if the bytes are in a file, from `start` on.
  blob_pieces: {
    columns: {
      place: 'text',
      n: 'integer',
      codec: 'text',
      sha256: 'blob',
      start: 'integer',
      size: 'integer',
      at: 'integer',
      body: 'blob?',
    },
    key: ['place', 'n'],
    indexes: {},
    rights: ['insert', 'delete'],
  },
} as const satisfies Record<string, SideTable>
