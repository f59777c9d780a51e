// Compares the references that follow from the payloads of events with the list beside the journal, from which garbage collection starts. A lost
// one would let a collection delete what an event still names; one too many keeps garbage.

import { fromUtf8 } from '../../model/bytes.ts'
import { InkError } from '../../model/errors.ts'
import type { EventRecord } from '../../model/event.ts'
import { referencesOf } from '../../model/event-payload.ts'
import { everyTenant } from '../../model/tenant-pages.ts'
import type { Reference } from '../../ports/values.ts'
import { stopIfAsked } from '../reading/abortable.ts'
import { scanJournal } from '../reading/read-events.ts'
import { TimeSlice } from '../time/time-slice.ts'
import type { Scope } from '../wiring/scope.ts'

export interface ReferenceProblem {
  readonly seq: number
  /** The ref of a value, or `blob:` and a digest. */
  readonly ref: string
  readonly reason: string
}

export interface ReferencesReport {
  readonly intact: boolean
  /** Number of references that follow from the events. */
  readonly references: number
  /** The first problems, ordered by seq. */
  readonly problems: readonly ReferenceProblem[]
}

const PAGE = 512
const PROBLEMS_TOLD = 20
// How often an event is read again that is erased meanwhile.
const READS = 5

/** Visits the events of a journal in order, page by page. */
export class ReferenceWalk {
  readonly #scope: Scope
  readonly #problems: ReferenceProblem[] = []
  #references = 0
  #intact = true
  #page: readonly Reference[] = []
  #at = 0
  #after: Reference | undefined
  #ended = false

  constructor(scope: Scope) {
    this.#scope = scope
  }

  async visit(records: readonly EventRecord[]): Promise<void> {
    for (const e of records) {
      await this.#upTo(e.seq)
      const wanted = wantedBy(e)
      const stored = await this.#takeAt(e.seq)
      this.#references += wanted.length
      if (!isSame(wanted, stored)) await this.#lookAgain(e.seq)
    }
  }

  /** References of events beyond the last one that was visited are of later commits. */
  report(): ReferencesReport {
    return { intact: this.#intact, references: this.#references, problems: this.#problems }
  }

  /** References of events that are not there. */
  async #upTo(seq: number): Promise<void> {
    for (let next = await this.#peek(); next && next.seq < seq; next = await this.#peek()) {
      this.#problem(next.seq, next.ref, 'the list of references names an event that is not there')
      this.#at++
    }
  }

  async #takeAt(seq: number): Promise<readonly string[]> {
    const refs: string[] = []
    for (let next = await this.#peek(); next?.seq === seq; next = await this.#peek()) {
      refs.push(next.ref)
      this.#at++
    }
    return refs
  }

  async #peek(): Promise<Reference | undefined> {
    const { engine, tenant } = this.#scope
    if (this.#at === this.#page.length && !this.#ended) {
      this.#after = this.#page.at(-1) ?? this.#after
      this.#page = await engine.backend.values.references(tenant, this.#after, PAGE)
      this.#at = 0
      this.#ended = this.#page.length < PAGE
    }
    return this.#page[this.#at]
  }

  /** The payload may have been erased between two reads, and its references with it. */
  async #lookAgain(seq: number): Promise<void> {
    const { journal, values } = this.#scope.engine.backend
    const { tenant } = this.#scope
    const read = async () => (await journal.page(tenant, { from: seq - 1, to: seq, limit: 1 })).events[0]
    for (let i = 0; i < READS; i++) {
      const before = await read()
      const stored: string[] = []
      for (let after: Reference | undefined = { seq, ref: '' }; after; ) {
        const page = await values.references(tenant, after, PAGE)
        for (const one of page) if (one.seq === seq) stored.push(one.ref)
        const last = page.at(-1)
        after = page.length === PAGE && last?.seq === seq ? last : undefined
      }
      const e = await read()
      if ((before?.payload === undefined) !== (e?.payload === undefined)) continue
      const wanted = e ? wantedBy(e) : []
      for (const ref of wanted.filter((one) => !stored.includes(one)))
        this.#problem(seq, ref, 'a reference of this event is missing from the list of references')
      for (const ref of stored.filter((one) => !wanted.includes(one)))
        this.#problem(seq, ref, 'the list of references has one that this event does not have')
      return
    }
  }

  #problem(seq: number, ref: string, reason: string): void {
    this.#intact = false
    if (this.#problems.length < PROBLEMS_TOLD) this.#problems.push({ seq, ref, reason })
  }
}

/** A payload that cannot be read is damage, which the chain shows. */
function wantedBy({ schema, payload }: EventRecord): readonly string[] {
  try {
    return payload === undefined ? [] : referencesOf(schema, fromUtf8(payload))
  } catch {
    return []
  }
}

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((one, i) => one === b[i])

/** Compares the references of every tenant that is active. Each finding is one sentence. `damage` was found below the journal. */
export async function checkReferences(scope: Scope, damage: readonly string[], signal?: AbortSignal): Promise<readonly string[]> {
  const { journal } = scope.engine.backend
  const findings: string[] = []
  const slice = new TimeSlice(scope.engine.environment)
  for await (const tenant of everyTenant(journal.tenants)) {
    const own = { ...scope, tenant }
    const walk = new ReferenceWalk(own)
    try {
      const { seq, state } = await journal.head(tenant)
      if (state !== 'active') continue
      for await (const records of scanJournal(own, journal, seq)) {
        stopIfAsked(scope, signal)
        await walk.visit(records)
        await slice.rest()
      }
    } catch (error) {
      if (!(error instanceof InkError) || error.kind !== 'corrupt') throw error
      // Other tenants may be sound. Damage that was found before says more.
      if (damage.length === 0) findings.push(`Tenant ${tenant}: its references could not be compared, because of ${error.code}.`)
    }
    for (const { seq: at, ref, reason } of walk.report().problems) findings.push(`Tenant ${tenant}, seq ${at}: ${reason} (${ref}).`)
  }
  return findings
}
