// Packs a batch into the arguments of commit_v1: values of fixed size in one run of bytes, payloads in another, the rest in arrays. Also
// splits a batch into parts that the function can take at once.

import { Buffer } from 'node:buffer'
import { hex } from '../../model/bytes.ts'
import { bodyDigest } from '../../model/chain.ts'
import { DURABLE, type EventDraft } from '../../model/event.ts'
import { idBytes, writeId } from '../../model/ids.ts'
import type { ColumnValue } from '../../model/tables.ts'
import type { TenantState } from '../../model/tenant.ts'
import type { Change, Commit, Guard } from '../../ports/commit.ts'
import { list, numbers, texts } from './arrays.ts'
import { FIXED } from './commit-function.ts'
import type { CommitArguments, EventArguments } from './commit-parameters.ts'
import { CONTENT } from './content-functions.ts'
import { contentId, packNodes, packReferences } from './pack-values.ts'
import { textPieces } from './pieces.ts'
import { sha256 } from './sha256.ts'

/** Parameters that come from the settings of the store and not from the batch. */
type Settings = 'tenant' | 'durable' | 'lockMs'

export interface Packed {
  readonly given: Omit<CommitArguments, Settings>
  /** The guards in the order in which the function numbers them with their commits. */
  readonly pairs: readonly Guard[]
}

/** `signState` signs a new state of the tenant. */
export function packBatch(batch: readonly Commit[], signState: (state: TenantState) => string): Packed {
  const events = batch.flatMap((commit) => commit.events)
  const [firsts, eventCommits, sinces]: number[][] = [[], [], []]
  const guards = new Guards()
  const keys = { commits: [] as number[], digests: [] as Uint8Array[], bodies: [] as Uint8Array[] }
  const rows = new RowChanges()
  let n = 0
  for (const [i, commit] of batch.entries()) {
    const number = i + 1
    firsts?.push(commit.events.length > 0 ? n + 1 : 0)
    // Without `since` nothing is looked up: no head is beyond this number.
    sinces?.push(commit.since ?? Number.MAX_SAFE_INTEGER)
    for (const guard of commit.guards) guards.add(number, guard)
    rows.add(number, n, commit.changes)
    const salt = commit.events[0]?.salt
    if (commit.key) {
      keys.commits.push(number)
      keys.digests.push(commit.key.digest)
      keys.bodies.push(salt ? bodyDigest(sha256, salt, commit.key.body) : new Uint8Array(32))
    }
    for (let k = 0; k < commit.events.length; k++) eventCommits?.push(number)
    n += commit.events.length
  }
  const alone = batch.length === 1 ? batch[0]?.changes : undefined
  const erase = new Set(alone?.flatMap((change) => (change.kind === 'erase' ? change.seqs : [])))
  const state = alone?.findLast((change) => change.kind === 'state')?.state
  // Defaults are not sent: one event per commit, and senders that know the same head.
  const single = batch.every((commit) => commit.events.length === 1)
  const since = Math.min(...(sinces ?? []))
  const references = packReferences(events)
  const given = {
    commits: batch.length,
    since,
    sinces: sinces?.every((known) => known === since) ? null : numbers(sinces),
    firsts: single ? null : numbers(firsts),
    events: events.length,
    eventCommits: single ? null : numbers(eventCommits),
    ...packEvents(events),
    keyCommits: numbers(keys.commits),
    keys: Buffer.concat(keys.digests),
    keyBodies: Buffer.concat(keys.bodies),
    ...guards.values(),
    ...rows.values(),
    erase: numbers([...erase]),
    state: state === undefined ? null : signState(state),
    ...packNodes(batch),
    refEvents: numbers(references.events),
    refNames: references.names,
  }
  return { given, pairs: guards.pairs }
}

export function packEvents(events: readonly EventDraft[]): EventArguments {
  const bytes = Buffer.alloc(events.length * FIXED.size)
  for (const [n, e] of events.entries()) {
    const at = n * FIXED.size - 1
    writeId(e.id, bytes, at + FIXED.id)
    bytes.set(e.salt, at + FIXED.salt)
    bytes.set(e.digest, at + FIXED.digest)
    bytes.set(e.event, at + FIXED.event)
    if (e.session) writeId(e.session, bytes, at + FIXED.session)
    if (e.run) writeId(e.run, bytes, at + FIXED.run)
    if (e.subject) writeId(e.subject, bytes, at + FIXED.subject)
    if (e.cause) writeId(e.cause, bytes, at + FIXED.cause)
    if (e.key) bytes.set(e.key, at + FIXED.key)
  }
  const payloads = textPieces(events.map((e) => e.payload))
  // Defaults are not sent: no actor, durable, the first schema.
  return {
    at: numbers(events.map((e) => e.at)),
    type: texts(events.map((e) => e.type)),
    schema: events.every((e) => e.schema === 1) ? null : numbers(events.map((e) => e.schema)),
    class: events.every((e) => e.class === DURABLE) ? null : numbers(events.map((e) => e.class)),
    actor: events.every((e) => e.actor === '') ? null : texts(events.map((e) => e.actor)),
    bytes,
    seldom: events.some((e) => e.run || e.subject || e.cause || e.key),
    payloadFrom: payloads.from,
    payloadSize: payloads.size,
    payloads: payloads.bytes,
  }
}

/** Each guard once, with the commits that have it. */
class Guards {
  readonly pairs: Guard[] = []
  readonly #pairCommits: number[] = []
  readonly #pairGuards: number[] = []
  readonly #numbers = new Map<string, number>()
  readonly #tables: string[] = []
  readonly #ids: string[] = []
  readonly #wants: number[] = []
  readonly #fences: boolean[] = []

  add(commit: number, guard: Guard): void {
    const [table, id, wanted] =
      guard.kind === 'value' || guard.kind === 'blob'
        ? [CONTENT, contentId(guard), 0]
        : guard.kind === 'quiet'
          ? ['', hex(idBytes(guard.session)), guard.after]
          : [guard.table, guard.id, guard.kind === 'row' ? guard.revision : guard.fence]
    const name = `${guard.kind} ${table} ${wanted} ${id}`
    let number = this.#numbers.get(name)
    if (number === undefined) {
      number = this.#tables.push(table)
      this.#ids.push(id)
      this.#wants.push(wanted)
      this.#fences.push(guard.kind === 'fence')
      this.#numbers.set(name, number)
    }
    this.pairs.push(guard)
    this.#pairCommits.push(commit)
    this.#pairGuards.push(number)
  }

  values() {
    return {
      guardTables: texts(this.#tables),
      guardIds: texts(this.#ids),
      guardWants: numbers(this.#wants),
      guardFences: list(this.#fences.map(String)),
      pairCommits: numbers(this.#pairCommits),
      pairGuards: numbers(this.#pairGuards),
      guardNames: distinct(this.#tables.filter((table) => table !== '')),
    }
  }
}

interface Put {
  readonly table: string
  readonly id: string
  readonly commit: number
  /** Events of the batch, counted from 1; 0 if the row follows from none. */
  readonly born: number
  readonly revision: number
  readonly fence: number
  readonly columns: readonly ColumnValue[]
  readonly body: string
}

/** The rows of a batch, each once: several changes of one row are merged. */
class RowChanges {
  readonly #puts = new Map<string, Put>()
  readonly #removes = new Map<string, readonly [table: string, id: string, commit: number]>()

  add(commit: number, before: number, changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.kind === 'erase' || change.kind === 'state') continue
      const { table, id } = change
      const name = rowName(change)
      const earlier = this.#puts.get(name)
      if (change.kind === 'remove') {
        this.#puts.delete(name)
        this.#removes.set(name, [table, id, commit])
        continue
      }
      const event = change.event === undefined ? 0 : before + change.event + 1
      this.#puts.set(name, {
        table,
        id,
        commit,
        born: earlier?.born ?? event,
        revision: event,
        fence: change.grants ? event : (earlier?.fence ?? 0),
        columns: change.columns,
        body: change.body,
      })
    }
  }

  values() {
    const removes = [...this.#removes.values()]
    const puts = [...this.#puts.values()]
    const bodies = textPieces(puts.map((put) => put.body))
    return {
      removeTables: texts(removes.map(([table]) => table)),
      removeIds: texts(removes.map(([, id]) => id)),
      removeCommits: numbers(removes.map(([, , commit]) => commit)),
      removeNames: distinct(removes.map(([table]) => table)),
      putTables: texts(puts.map((put) => put.table)),
      putIds: texts(puts.map((put) => put.id)),
      putCommits: numbers(puts.map((put) => put.commit)),
      putBorns: numbers(puts.map((put) => put.born)),
      putRevisions: numbers(puts.map((put) => put.revision)),
      putFences: numbers(puts.map((put) => put.fence)),
      putColumns: texts(puts.map((put) => JSON.stringify(put.columns))),
      putFrom: bodies.from,
      putSize: bodies.size,
      putBodies: bodies.bytes,
      putNames: distinct(puts.map((put) => put.table)),
    }
  }
}

/** Each table once: the function calls it by name. */
const distinct = (tables: readonly string[]): string | null => texts([...new Set(tables)])

const rowName = ({ table, id }: { readonly table: string; readonly id: string }): string => `${table} ${id}`

/**
 * Splits a batch, in order, into parts of independent commits. The function reads the state before the batch, so no commit may build on
 * another.
 */
export function splitBatch(batch: readonly Commit[]): readonly (readonly Commit[])[] {
  if (batch.length === 1 || isPlain(batch)) return [batch]
  const parts: Commit[][] = []
  let part: Commit[] = []
  let touched = new Set<string>()
  const cut = () => {
    if (part.length > 0) parts.push(part)
    part = []
    touched = new Set()
  }
  for (const commit of batch) {
    const alone = commit.changes.some((change) => change.kind === 'erase' || change.kind === 'state')
    if (alone || asks(commit).some((name) => touched.has(name))) cut()
    part.push(commit)
    if (alone) cut()
    else for (const name of touches(commit)) touched.add(name)
  }
  cut()
  return parts
}

/** Whether all commits are events without changes, keys or `quiet` guards. That is the usual batch, and needs no split. */
function isPlain(batch: readonly Commit[]): boolean {
  const ids = new Set<string>()
  for (const { changes, key, guards, events, nodes } of batch) {
    if (changes.length > 0 || key || nodes || guards.some((guard) => guard.kind === 'quiet')) return false
    if (events[0]) ids.add(events[0].id)
  }
  return ids.size === batch.length
}

const written = (commit: Commit): readonly string[] => [
  ...commit.changes.flatMap((change) => (change.kind === 'put' || change.kind === 'remove' ? [rowName(change)] : [])),
  ...(commit.key ? [`key ${hex(commit.key.digest)}`] : []),
  ...(commit.nodes ?? []).map(({ ref }) => `node ${hex(ref)}`),
]

/** Names of all that a commit reads or writes. No earlier commit in the same call may have written them. */
function asks(commit: Commit): readonly string[] {
  // No commit writes blobs, so guards on them wait for none.
  const guarded = commit.guards.flatMap((guard) =>
    guard.kind === 'blob'
      ? []
      : guard.kind === 'quiet'
        ? `session ${guard.session}`
        : guard.kind === 'value'
          ? `node ${hex(guard.ref)}`
          : rowName(guard),
  )
  const [first] = commit.events
  return [...written(commit), ...guarded, ...(first && commit.since !== undefined ? [`event ${first.id}`] : [])]
}

function* touches(commit: Commit): Iterable<string> {
  yield* written(commit)
  const [first] = commit.events
  if (first) yield `event ${first.id}`
  for (const { session } of commit.events) if (session) yield `session ${session}`
}
