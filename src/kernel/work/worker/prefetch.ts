// What a worker has read ahead of what it works on, in the order in which it is to be taken. What was read is a hint: taking an item is guarded by
// what was seen of it.

import type { TenantId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import type { WorkRow } from '../../../model/work.ts'
import type { Scope } from '../../scope.ts'
import type { Seen } from '../claim-item.ts'
import { splitByTime } from '../due-tenants.ts'
import { orphans } from '../orphans.ts'
import { dealt, TenantRotation } from '../tenant-rotation.ts'

export interface Candidate {
  readonly scope: Scope
  readonly row: TableRow<'work'>
  readonly item: WorkRow
  readonly seen: Seen
}

export interface PrefetchOptions {
  readonly queue: string
  /** Of every tenant. */
  readonly all: boolean
  /** How many to read at a time. */
  readonly most: () => number
  /** How many of one tenant come before those of the next. */
  readonly atATime: () => number
  /** In hand here, or on its way. */
  readonly ours: ReadonlySet<string>
  readonly watch: (tenant: TenantId) => void
}

/** Nobody's, and nobody follows it: many such are taken in one commit. Those that somebody left are taken up one by one. */
export const isPlain = ({ item }: Candidate): boolean => item.state === 'ready' && item.origin === undefined

/** A claim counts when it is made: one at its last attempt is claimed only when its handler begins, or it would be dead with the process. */
const mayWait = ({ item: { attempt, attempts } }: Candidate): boolean => attempts === undefined || attempts - attempt > 1

export const keyOf = (tenant: TenantId, id: string): string => `${tenant}/${id}`

const TENANTS_AT_A_TIME = 100
const DRY_MS = 5
// What could not be claimed keeps nobody else waiting.
const REST_MS = 1000

export class Prefetch {
  readonly #scope: Scope
  readonly #options: PrefetchOptions
  readonly #resting = new Map<string, number>()
  readonly #rota = new TenantRotation()
  #candidates: Candidate[] = []
  #readAt = -Infinity
  #searchedAt = -Infinity
  #reading: Promise<number | undefined> | undefined
  /** Picked since what is being read was asked for: it may be among what comes. */
  readonly #picked = new Set<string>()
  #collided = false
  /** Tenants that are due and have nothing to claim, because others hold it: they take the place of none. */
  #passed = 0
  /** There was more than could be read at a time. */
  #more = false
  #most = 0
  #dealtBy = 1

  constructor(scope: Scope, options: PrefetchOptions) {
    this.#scope = scope
    this.#options = options
  }

  get isEmpty(): boolean {
    return this.#candidates.length === 0
  }

  /** The last look found nothing and was just now. */
  get ranDry(): boolean {
    return this.isEmpty && this.#steady() - this.#readAt < DRY_MS
  }

  pick(most: number): readonly Candidate[] {
    return this.#pickSome(most, () => true)
  }

  /** Of one tenant, such as can be taken with others: as many as there is room for, and more of those that may wait. Nothing is passed over. */
  pickPlain(tenant: TenantId, room: number, most: number): readonly Candidate[] {
    return this.#pickSome(
      most,
      (candidate, before) => candidate.scope.tenant === tenant && isPlain(candidate) && (before < room || mayWait(candidate)),
    )
  }

  /** No more than is written in one piece without keeping others waiting. */
  #pickSome(most: number, isFit: (candidate: Candidate, before: number) => boolean): readonly Candidate[] {
    if (this.#steady() - this.#readAt > limits.workAheadMs) this.#candidates = []
    this.#dealAnew()
    const picked: Candidate[] = []
    let bytes = 0
    while (picked.length < most) {
      const [first] = this.#candidates
      if (!first || !isFit(first, picked.length)) break
      const next = this.#collided ? this.#byChance(first, (one) => isFit(one, picked.length)) : first
      bytes += next.row.body.length
      if (picked.length > 0 && bytes > limits.workTogetherBytes) break
      this.#candidates.splice(this.#candidates.indexOf(next), 1)
      if (this.#reading) this.#picked.add(keyOf(next.scope.tenant, next.row.id))
      this.#rota.served(next.scope.tenant)
      picked.push(next)
    }
    return picked
  }

  /** Handlers have turned quicker or slower by much, and so more or fewer of one tenant come together. */
  #dealAnew(): void {
    const atATime = this.#options.atATime()
    if (atATime < 2 * this.#dealtBy && 2 * atATime > this.#dealtBy) return
    this.#dealtBy = atATime
    const lists = Map.groupBy(this.#candidates, ({ scope }) => scope.tenant)
    if (lists.size > 1) this.#candidates = dealt([...lists.values()], atATime)
  }

  /** Nothing is put before what is more urgent, and nobody takes another's turn. */
  #byChance({ scope, item: { priority } }: Candidate, isFit: (candidate: Candidate) => boolean): Candidate {
    const alike = this.#candidates.filter(
      (candidate) => candidate.scope.tenant === scope.tenant && candidate.item.priority === priority && isFit(candidate),
    )
    return alike[(this.#scope.engine.environment.entropy.bytes(1)[0] as number) % alike.length] as Candidate
  }

  /** Reads on while the last of what was read is worked on, where there was more than could be read. */
  readOn(atLeast: number): void {
    if (!this.#more || this.#reading || this.#candidates.length > atLeast) return
    // Whoever needs it next asks again, and hears of it.
    this.read().catch(() => {})
  }

  /** Picked, and not taken after all. */
  putBack(candidates: readonly Candidate[]): void {
    this.#candidates.unshift(...candidates)
  }

  /** Others take from the same end: from now on any of those that are alike will do. */
  collided(): void {
    this.#collided = true
  }

  /** It could not be claimed: for a while it is passed over. */
  rest({ scope, row }: Candidate): void {
    this.#resting.set(keyOf(scope.tenant, row.id), this.#steady() + REST_MS)
  }

  /** What can be claimed, of all tenants it is for; the answer is how long, at most, nothing more is due. */
  read(): Promise<number | undefined> {
    if (!this.#reading) {
      this.#picked.clear()
      this.#reading = this.#readNow().finally(() => {
        this.#reading = undefined
      })
    }
    return this.#reading
  }

  async #readNow(): Promise<number | undefined> {
    const { ours } = this.#options
    // What is in hand now may be done by the time the answer comes, and still stand in it.
    const before = new Set(ours)
    this.#most = this.#options.most()
    const steady = this.#steady()
    const search = steady - this.#searchedAt >= limits.lookEveryMs
    if (search) this.#searchedAt = steady
    for (const [key, until] of this.#resting) if (until <= steady) this.#resting.delete(key)
    const isFree = ({ scope, row }: Candidate) => {
      const key = keyOf(scope.tenant, row.id)
      return !before.has(key) && !this.#resting.has(key) && !this.#picked.has(key)
    }
    const lists: (readonly Candidate[])[] = []
    let { tenants, ready, wait } = await this.#inTurn(search)
    let [found, passed] = [0, 0]
    for (const [i, tenant] of tenants.entries()) {
      const { candidates, next } = await this.#readOf(tenant, search)
      if (next !== undefined) wait = Math.min(wait ?? Infinity, next)
      found += candidates.length
      const free = candidates.filter(isFree)
      if (free.length > 0) lists.push(free)
      else if (i < ready) {
        passed++
        this.#rota.served(tenant)
      }
      // Whoever was not asked comes first the next time.
      if (found < this.#most) continue
      passed = Math.max(passed, this.#passed)
      break
    }
    // Those that were passed may hide others: now more are asked for, and at once.
    if (passed > this.#passed && ready >= TENANTS_AT_A_TIME + this.#passed) wait = 0
    this.#passed = passed
    this.#more = found >= this.#most
    this.#dealtBy = this.#options.atATime()
    // What came late may have been picked meanwhile.
    this.#candidates = dealt(lists, this.#dealtBy).filter(isFree)
    this.#collided = false
    this.#readAt = this.#steady()
    return this.#resting.size > 0 ? Math.min(wait ?? Infinity, REST_MS) : wait
  }

  /** Those that have something to claim; now and then also those that may have, because whoever held it is gone. */
  async #inTurn(search: boolean): Promise<{ readonly tenants: readonly TenantId[]; readonly ready: number; wait: number | undefined }> {
    const { queue, all } = this.#options
    if (!all) return { tenants: [this.#scope.tenant], ready: 1, wait: undefined }
    const { engine } = this.#scope
    const due = await engine.backend.queries.due(queue, TENANTS_AT_A_TIME + this.#passed)
    if (due.length === 0) return { tenants: [], ready: 0, wait: undefined }
    const { ready, later, wait } = await splitByTime(engine, due)
    for (const { tenant } of later) this.#options.watch(tenant)
    const tenants = [...this.#rota.inTurn(ready), ...(search ? later : [])].map(({ tenant }) => tenant)
    return { tenants, ready: ready.length, wait }
  }

  async #readOf(tenant: TenantId, search: boolean): Promise<{ readonly candidates: readonly Candidate[]; readonly next?: number }> {
    const { queue, all, watch } = this.#options
    const scope = { ...this.#scope, tenant }
    watch(tenant)
    try {
      const asked = this.#steady()
      const { now, rows, next } = await scope.engine.backend.queries.ready(tenant, queue, this.#most)
      const ready = new Set(rows.map(({ id }) => id))
      const left = search ? (await orphans(scope, queue)).filter(({ id }) => !ready.has(id)) : []
      const toCandidate = (row: TableRow<'work'>) => ({ scope, row, seen: { now, asked }, item: decodeBody(row.body) })
      return { candidates: [...rows, ...left].map(toCandidate), ...(next !== undefined && { next: next - now }) }
    } catch (error) {
      // A tenant that was closed just now, or whose file is damaged, keeps no other waiting.
      if (!all) throw error
      scope.engine.environment.logger.warn(`a worker of ${queue} could not look for work`, { tenant, error: String(error) })
      return { candidates: [], next: REST_MS }
    }
  }

  #steady(): number {
    return this.#scope.engine.environment.clock.monotonic()
  }
}
