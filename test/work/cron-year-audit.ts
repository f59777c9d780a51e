// Audits a year of jobs from the journal alone and lists complaints: a time that fired twice, never, or is none of the job's; one that
// started, overlapped or was skipped against the job's policy; an item with two holders. The list is empty when everything is right.

import { limits, type Store } from '../../src/index.ts'
import type { OccurrenceRow } from '../../src/model/job.ts'
import { type PlannedJob, TENANTS } from './cron-year-jobs.ts'
import type { Lived } from './cron-year-simulation.ts'
import type { Decided } from './cron-year-stores.ts'

export interface Verdict {
  readonly complaints: readonly string[]
  readonly counts: Readonly<Counts>
}

export interface Counts {
  /** Times that had to come up, by the oracle. */
  due: number
  started: number
  skipped: number
  /** Times in ranges that were missed. */
  missed: number
  backfilled: number
  doubles: number
  losses: number
  events: number
}

/** How often the journal says what of a time. */
type Came = Record<'started' | 'skipped' | 'missed' | 'backfilled', number>

interface Job {
  readonly planned: PlannedJob
  readonly set: Decided
  readonly came: Map<number, Came>
  /** Offered and not at their end. */
  readonly active: Set<string>
  /** Kept back until the one before has ended. */
  readonly waiting: Set<string>
  /** Where times follow from ends: when the next one is due. */
  next: Decided | undefined
  /** Left out for a later one. */
  passed?: number | undefined
  /** Missed, and one is to begin for all of them in the same commit. */
  readonly owed: { readonly last: number; readonly high: number }[]
}

interface Occurrence {
  readonly job: Job
  readonly due: number
  readonly cause: OccurrenceRow['cause']
  readonly state: OccurrenceRow['state']
  readonly ends: string[]
  offered: number
}

interface Item {
  readonly occurrence: Occurrence
  /** By somebody who has not settled it. */
  heldUntil: number
}

interface Heard {
  readonly tenant: string
  readonly seq: number
  /** The row it is about; ids are told apart by their tenants. */
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
  readonly when: Decided
}

export async function judge(jobs: readonly PlannedJob[], lived: Lived): Promise<Verdict> {
  const judging = new Judging(new Map(jobs.map((job) => [job.name, job])), lived)
  for (const tenant of TENANTS) await judging.read(lived.witness.store.tenant(tenant))
  return judging.end()
}

class Judging {
  readonly #planned: ReadonlyMap<string, PlannedJob>
  readonly #lived: Lived
  readonly #complaints: string[] = []
  readonly #counts: Counts = { due: 0, started: 0, skipped: 0, missed: 0, backfilled: 0, doubles: 0, losses: 0, events: 0 }
  readonly #jobs = new Map<string, Job>()
  readonly #occurrences = new Map<string, Occurrence>()
  readonly #items = new Map<string, Item>()
  readonly #hears: Readonly<Record<string, (heard: Heard) => void>> = {
    'job.set': (heard) => this.#set(heard),
    'occurrence.opened': (heard) => this.#opened(heard),
    'occurrence.finished': (heard) => this.#finished(heard),
    'work.offered': (heard) => this.#offered(heard),
    'work.claimed': (heard) => this.#claimed(heard),
    'work.completed': (heard) => this.#settled(heard),
    'work.cancelled': (heard) => this.#settled(heard),
    'work.died': (heard) => this.#settled(heard),
    'work.failed': (heard) => this.#settled(heard),
    'work.released': (heard) => this.#settled(heard),
  }

  constructor(planned: ReadonlyMap<string, PlannedJob>, lived: Lived) {
    this.#planned = planned
    this.#lived = lived
  }

  async read(store: Store): Promise<void> {
    const tenant = store.tenantId
    for await (const { seq, type, subject, data } of store.events()) {
      this.#counts.events++
      const when = this.#lived.diary.at(tenant, seq)
      this.#hears[type]?.({ tenant, seq, subject: `${tenant} ${subject}`, data: (data ?? {}) as Heard['data'], when })
    }
  }

  #set({ subject, data, when }: Heard): void {
    if (this.#jobs.has(subject)) return
    const planned = this.#planned.get(String(data.name)) as PlannedJob
    const next = planned.finishMs === undefined ? undefined : shifted(when, planned.finishMs)
    this.#jobs.set(subject, { planned, set: when, came: new Map(), active: new Set(), waiting: new Set(), next, owed: [] })
  }

  #opened({ subject, tenant, data, when }: Heard): void {
    const { job: id, due, cause, state, last = due, count } = data as unknown as OccurrenceRow
    const job = this.#jobs.get(`${tenant} ${id}`) as Job
    const { times, finishMs, options, catchUpMs = Number.POSITIVE_INFINITY } = job.planned
    if (this.#occurrences.has(subject)) this.#double(job, due, 'was opened twice')
    else this.#occurrences.set(subject, { job, due, cause, state, ends: [], offered: 0 })
    if (cause === 'backfill') {
      cameOf(job, due).backfilled++
      return
    }
    if (state === 'missed') {
      const range = finishMs === undefined ? times.filter((time) => time >= due && time <= last) : [due]
      for (const time of range) cameOf(job, time).missed++
      if (range.length !== count || range[0] !== due || range.at(-1) !== last)
        this.#complain(job, due, `${count} until ${iso(last)} were missed, which are ${range.length}`)
      if (options.missed === 'once' && finishMs === undefined && when.high - last <= catchUpMs) job.owed.push({ last, high: when.high })
      if (when.high - last <= graceOf(job)) this.#complain(job, last, `was missed after ${when.high - last} ms`)
    } else if (state === 'skipped') {
      cameOf(job, due).skipped++
      this.#skipped(job, due)
    } else {
      cameOf(job, due).started++
      this.#begun(job, due, when)
      job.waiting.add(subject)
    }
    if (state !== 'missed' && job.owed.at(-1)?.high === when.high) job.owed.pop()
    if (finishMs !== undefined) this.#follows(job, due, state === 'missed' ? shifted(when, finishMs) : undefined)
  }

  /** Its item is in the queue: from now on it runs. */
  #offered({ subject, tenant, data }: Heard): void {
    const { kind, id } = (data.origin ?? {}) as { readonly kind?: string; readonly id?: string }
    if (kind !== 'occurrence') return
    const name = `${tenant} ${id}`
    const occurrence = this.#occurrences.get(name) as Occurrence
    const { job, due, cause, ends } = occurrence
    this.#items.set(subject, { occurrence, heldUntil: 0 })
    if (++occurrence.offered > 1) this.#double(job, due, 'was started twice')
    if (ends.length > 0) this.#double(job, due, 'was started after its end')
    if (cause !== 'schedule') return
    job.waiting.delete(name)
    if (job.planned.options.overlap !== 'allow' && job.active.size > 0) this.#complain(job, due, 'began while another one ran')
    job.active.add(name)
  }

  #claimed({ subject, data, when, seq }: Heard): void {
    const item = this.#items.get(subject)
    if (!item) return
    const { job, due, ends } = item.occurrence
    if (item.heldUntil > when.high) this.#double(job, due, `was claimed by a second one ${item.heldUntil - when.high} ms too early`)
    if (ends.length > 0) this.#double(job, due, 'was claimed after its end')
    item.heldUntil = this.#lived.renewed.get(`${subject} ${seq}`) ?? (data.until as number)
  }

  #settled({ subject }: Heard): void {
    const item = this.#items.get(subject)
    if (item) item.heldUntil = 0
  }

  #finished({ subject, data, when }: Heard): void {
    const { job, due, cause, ends } = this.#occurrences.get(subject) as Occurrence
    ends.push(String(data.state))
    if (ends.length > 1) this.#double(job, due, `ended as ${ends.join(' and ')}`)
    if (cause !== 'schedule') return
    job.active.delete(subject)
    job.waiting.delete(subject)
    const { finishMs } = job.planned
    if (finishMs !== undefined) job.next = shifted({ low: Math.max(due, when.low), high: Math.max(due, when.high) }, finishMs)
  }

  #skipped(job: Job, due: number): void {
    const { overlap } = job.planned.options
    if (overlap === 'allow') this.#complain(job, due, 'was left out though it might overlap')
    // What takes its place begins in the same commit.
    else if (overlap === 'replace') job.passed = due
    else if (job.active.size === 0) this.#complain(job, due, 'was left out though nothing ran')
    else if (overlap === 'queueOne' && job.waiting.size === 0) this.#complain(job, due, 'was left out though none waited')
  }

  #begun(job: Job, due: number, when: Decided): void {
    const { jitterMs, catchUpMs = Number.POSITIVE_INFINITY, times, options } = job.planned
    const late = when.low - due - jitterMs
    job.passed = undefined
    if (when.high < due) this.#complain(job, due, `began ${due - when.high} ms early`)
    if (job.waiting.size > 0) this.#complain(job, due, 'waited though another one did')
    if (late <= limits.missedGraceMs) return
    if (options.missed === 'skip' || late > catchUpMs) this.#complain(job, due, `began ${late} ms late`)
    if (options.missed !== 'once') return
    const after = times.find((time) => time > due && time + jitterMs < when.low)
    if (after !== undefined) this.#complain(job, due, `began for all of them after ${iso(after)} was due`)
  }

  /** A time that is counted from the end of the one before. */
  #follows(job: Job, due: number, next: Decided | undefined): void {
    const expected = job.next ? `${iso(job.next.low)} to ${iso(job.next.high)}` : 'nothing'
    if (!job.next || due < job.next.low || due > job.next.high) this.#complain(job, due, `came up where ${expected} was next`)
    job.next = next
  }

  end(): Verdict {
    const done = Map.groupBy(this.#lived.done, (name) => name)
    for (const job of this.#jobs.values()) this.#endOf(job)
    for (const [name, { job, due, offered, ends, state }] of this.#occurrences) {
      if (state === 'skipped' || state === 'missed') continue
      const times = done.get(name)?.length ?? 0
      if (offered === 0 || ends.length === 0) this.#loss(job, due, `never came to ${offered === 0 ? 'the queue' : 'an end'}`)
      if (times > 1) this.#double(job, due, `was done ${times} times`)
      if (times === 1 && ends[0] !== 'done') this.#complain(job, due, `was done, and ended as ${ends[0]}`)
    }
    return { complaints: this.#complaints, counts: this.#counts }
  }

  #endOf(job: Job): void {
    const { set, came, next, active, passed, owed } = job
    const { finishMs, jitterMs, options } = job.planned
    const { ended } = this.#lived
    const times = new Set(job.planned.times)
    if (passed !== undefined) this.#complain(job, passed, 'was left out for one that did not come')
    for (const { last } of owed) {
      const latest = job.planned.times.find((time) => time > last) as number
      if (!came.get(latest)?.backfilled) this.#complain(job, last, 'was missed, and none began for it')
    }
    for (const [time, each] of came) {
      const { started, skipped, missed, backfilled } = each
      for (const [what, many] of Object.entries(each)) this.#counts[what as keyof Came] += many
      // What was missed may be made up for, once.
      if (started + skipped + Math.max(missed, backfilled) > 1) this.#double(job, time, `came up as ${JSON.stringify(each)}`)
      if (finishMs === undefined && !times.has(time)) this.#complain(job, time, `is none of its times: ${JSON.stringify(each)}`)
    }
    if (finishMs !== undefined) {
      this.#counts.due += came.size
      if (active.size === 0 && (!next || next.high + jitterMs < ended)) this.#loss(job, next?.high ?? 0, 'is next, and did not come up')
      return
    }
    for (const time of times) {
      const counts = options.at !== undefined || time > set.high
      if (!counts || time + jitterMs > ended) continue
      this.#counts.due++
      if (!came.has(time)) this.#loss(job, time, 'did not come up')
    }
  }

  #double(job: Job, time: number, what: string): void {
    this.#counts.doubles++
    this.#complain(job, time, `DOUBLE: ${what}`)
  }

  #loss(job: Job, time: number, what: string): void {
    this.#counts.losses++
    this.#complain(job, time, `LOST: ${what}`)
  }

  #complain({ planned }: Job, time: number, what: string): void {
    this.#complaints.push(`${planned.name}, ${iso(time)}: ${what}`)
  }
}

/** How late is not missed yet. */
function graceOf({ planned: { options, catchUpMs = Number.POSITIVE_INFINITY, finishMs } }: Job): number {
  const makesUp = options.missed === 'all' || (options.missed === 'once' && finishMs !== undefined)
  return makesUp ? Math.max(catchUpMs, limits.missedGraceMs) : limits.missedGraceMs
}

const iso = (time: number): string => new Date(time).toISOString()
const shifted = ({ low, high }: Decided, ms: number): Decided => ({ low: low + ms, high: high + ms })

function cameOf(job: Job, time: number): Came {
  const found = job.came.get(time) ?? { started: 0, skipped: 0, missed: 0, backfilled: 0 }
  job.came.set(time, found)
  return found
}
