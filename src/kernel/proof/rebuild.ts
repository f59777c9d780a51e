// Rows are a fold. Rebuild folds a tenant's journal beside the store, and compares the result with the rows (check) or replaces them.

import { refuse } from '../../model/errors.ts'
import type { EventRecord } from '../../model/event.ts'
import { checkKnown, invalidOption } from '../../model/options.ts'
import { compareKeys, compareText } from '../../model/order.ts'
import { type Body, decodeBody, type ScannedRow } from '../../model/rows.ts'
import { type TableName, tableNames, tableOf } from '../../model/tables.ts'
import type { Head } from '../../ports/journal.ts'
import type { Scratch, Snapshot } from '../../ports/upkeep.ts'
import { stopIfAsked } from '../reading/abortable.ts'
import { decodePayload } from '../reading/decode-event.ts'
import { scanJournal } from '../reading/read-events.ts'
import { TimeSlice } from '../time/time-slice.ts'
import type { Scope } from '../wiring/scope.ts'
import { ERASED, type Happened, keptIn } from '../writing/decider.ts'
import { foldFact, rowChanges } from '../writing/fold.ts'

export interface Difference {
  readonly table: TableName
  readonly id: string
  readonly stored?: ScannedRow
  readonly folded?: ScannedRow
}

export interface RebuildReport {
  /** Whether the stored rows were (or, with `check`, are) equal to the fold. */
  readonly equal: boolean
  readonly rows: number
  readonly events: number
  /** The first differences. */
  readonly differences: readonly Difference[]
}

export interface RebuildOptions {
  /** Compare only, change nothing. */
  readonly check?: boolean
  readonly signal?: AbortSignal
  readonly progress?: (done: number, of: number) => void
}

const DIFFERENCES_TOLD = 20
const ROWS_AT_A_TIME = 500
const ADOPT_TRIES = 50
const OWN_WRITERS_WAIT = 4

export async function rebuild(scope: Scope, options: RebuildOptions = {}): Promise<RebuildReport> {
  const { check, signal: _, progress, ...unknown } = options
  // A misspelt `check` would otherwise write rows.
  checkKnown(unknown, 'rebuild')
  if (check !== undefined && typeof check !== 'boolean') throw invalidOption('check', 'true or false', check)
  if (progress !== undefined && typeof progress !== 'function') throw invalidOption('progress', 'a function', progress)
  const { lane, backend } = scope.engine
  let scratch = await backend.upkeep.scratch()
  let release: (() => void) | undefined
  try {
    let folded = 0
    let report: RebuildReport | undefined
    // Other writers go on. Their events are folded too, until the fold has reached the head at the moment of adopting.
    for (let attempt = 1; attempt <= ADOPT_TRIES; attempt++) {
      // Writers of this store are faster than any fold. From this attempt on they wait.
      if (attempt === OWN_WRITERS_WAIT) release = await lane.hold()
      const snapshot = await backend.upkeep.snapshot(scope.tenant)
      let head: Head
      try {
        head = await snapshot.journal.head(scope.tenant)
        const erased = await foldJournal(scope, snapshot, scratch, folded, head.seq, options)
        if (erased && folded > 0) {
          // The fold so far may hold payloads that were erased since, so it begins again.
          await scratch.close()
          scratch = await backend.upkeep.scratch()
          await foldJournal(scope, snapshot, scratch, 0, head.seq, options)
        }
        folded = head.seq
        report ??= { events: folded, ...(await compareRows(scope, snapshot, scratch, options)) }
      } finally {
        // SQLite cannot reset its log while a snapshot is open, so the snapshot is closed soon.
        await snapshot.close()
      }
      if (check) return report
      if (report.equal) {
        // Equal rows say nothing about what is derived from them.
        await backend.upkeep.remakeDue?.(scope.tenant)
        return report
      }
      if (await backend.upkeep.adopt(scope.tenant, scratch, head)) return report
    }
    throw refuse('CONFLICT', { table: 'journal', id: scope.tenant, tries: ADOPT_TRIES })
  } finally {
    release?.()
    await scratch.close()
  }
}

/** Folds a range of the journal. Returns whether payloads were erased in it. */
async function foldJournal(
  scope: Scope,
  snapshot: Snapshot,
  scratch: Scratch,
  after: number,
  to: number,
  options: RebuildOptions,
): Promise<boolean> {
  let events = after
  let erased = false
  const slice = new TimeSlice(scope.engine.environment)
  for await (const records of scanJournal(scope, snapshot.journal, to, {}, after)) {
    stopIfAsked(scope, options.signal)
    for (const record of records) {
      await foldRecord(scope, scratch, record)
      await slice.rest()
      erased ||= record.type === ERASED
    }
    events += records.length
    options.progress?.(events, to)
  }
  return erased
}

async function foldRecord(scope: Scope, scratch: Scratch, e: EventRecord): Promise<void> {
  const { subject } = e
  if (!subject) return
  const d = scope.engine.registry.of(e.type)
  if (d) {
    const row = await scratch.get(d.table, subject)
    const { changes } = foldFact(d, row && decodeBody(row.body, row), happened(scope, e), 0)
    await scratch.apply(e.seq, changes)
  } else if (e.type === ERASED) {
    // The live erasure folded the row again without the payloads. Here they are absent anyway, so only the revision and the kept members change.
    const { data } = happened(scope, e)
    for (const table of tableNames) {
      const row = await scratch.get(table, subject)
      const owner = row && scope.engine.registry.ofTable(table)
      if (owner) {
        const body = decodeBody(row.body, row)
        await scratch.apply(e.seq, rowChanges(owner, subject, body, { ...body, ...keptIn(data, table) }, 0).changes)
      }
    }
  }
}

export const happened = (scope: Scope, e: EventRecord): Happened => ({
  id: e.id,
  type: e.type,
  data: e.payload === undefined ? undefined : (decodePayload(scope.tenant, e.seq, e.payload) as Body),
  at: e.at,
  actor: e.actor,
  session: e.session,
  run: e.run,
  subject: e.subject,
  cause: e.cause,
})

async function compareRows(
  scope: Scope,
  snapshot: Snapshot,
  scratch: Scratch,
  options: RebuildOptions,
): Promise<Omit<RebuildReport, 'events'>> {
  const differences: Difference[] = []
  const slice = new TimeSlice(scope.engine.environment)
  let rows = 0
  let equal = true
  for (const table of tableNames.filter((name) => tableOf(name).authority === 'journal')) {
    const stored = new RowCursor((after) => snapshot.rows(table, after, ROWS_AT_A_TIME))
    const folded = new RowCursor((after) => scratch.rows(table, after, ROWS_AT_A_TIME))
    for (;;) {
      stopIfAsked(scope, options.signal)
      await slice.rest()
      const [a, b] = [await stored.peek(), await folded.peek()]
      if (!a && !b) break
      const order = !a ? 1 : !b ? -1 : compareText(a.id, b.id)
      if (order <= 0) stored.next()
      if (order >= 0) folded.next()
      if (order >= 0) rows++
      if (order === 0 && a && b && sameRow(a, b)) continue
      equal = false
      const id = (order <= 0 ? a?.id : b?.id) as string
      if (differences.length < DIFFERENCES_TOLD)
        differences.push({ table, id, ...(order <= 0 && a && { stored: a }), ...(order >= 0 && b && { folded: b }) })
    }
  }
  return { equal, rows, differences }
}

const sameRow = (a: ScannedRow, b: ScannedRow): boolean =>
  !a.astray &&
  a.born === b.born &&
  a.revision === b.revision &&
  a.fence === b.fence &&
  a.body === b.body &&
  compareKeys(a.columns, b.columns) === 0

class RowCursor {
  readonly #read: (after: string | undefined) => Promise<readonly ScannedRow[]>
  #page: readonly ScannedRow[] = []
  #at = 0
  #ended = false

  constructor(read: (after: string | undefined) => Promise<readonly ScannedRow[]>) {
    this.#read = read
  }

  async peek(): Promise<ScannedRow | undefined> {
    if (this.#at === this.#page.length && !this.#ended) {
      this.#page = await this.#read(this.#page.at(-1)?.id)
      this.#at = 0
      this.#ended = this.#page.length === 0
    }
    return this.#page[this.#at]
  }

  next(): void {
    this.#at++
  }
}
