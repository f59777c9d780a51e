// How far the clock of this process may be trusted. The file keeps the newest time that its processes agree on. A clock that leaps ahead of it
// must prove itself before anything is removed by it; a smaller one is believed at once, because it removes too little and not too much.

import type { ClockTrust } from '../../model/clock-trust.ts'
import { limits } from '../../model/limits.ts'
import type { Database } from './database.ts'
import { reading } from './transaction.ts'

// Before the first row there is the time of the last migration, so a new file needs no row.
const find = `
  select trusted, leap from clocks where id = 1
  union all select max(applied_at), null from migrations limit 1`
const keep = `
  insert into clocks (id, trusted, leap) values (1, ?, ?)
  on conflict (id) do update set trusted = excluded.trusted, leap = excluded.leap`

/** The times that a file keeps, against which a process compares its clock. */
export interface Times {
  /** The newest time that its processes agree on. */
  readonly trusted: number
  /** The smallest time far beyond it that a process has read, until that is proven or a smaller one is read. */
  readonly leap?: number
}

const { clockLeapMs, clockProofMs, clockLookMs } = limits
// Every write is a flush. Times that differ by less say the same.
const SAME_MS = clockLookMs / 2

export interface ClockParts {
  readonly db: Database
  readonly now: () => number
  /** Milliseconds that never step back. */
  readonly steady: () => number
  readonly write: <T>(work: () => T) => Promise<T>
  /** How often a process that does nothing else looks. */
  readonly everyMs?: number | undefined
}

export class ClockWatch {
  readonly #parts: ClockParts
  readonly #timer: NodeJS.Timeout
  #lookedAt: number | undefined

  constructor(parts: ClockParts) {
    this.#parts = parts
    const look = () => void this.#aside()
    // A process that does nothing else also tells what its clock shows, which refutes one that leapt.
    this.#timer = setInterval(look, parts.everyMs ?? clockLookMs).unref()
    look()
  }

  /** Compares this process's clock with the file, and tells the file what it shows. */
  async look(): Promise<ClockTrust> {
    const { db, write } = this.#parts
    const { known, at, times } = await reading(db, () => this.#judged())
    if (!differs(known, times)) {
      this.#lookedAt = this.#parts.steady()
      return trustIn(times, at)
    }
    return write(() => {
      const { at, times } = this.#judged()
      db.run(keep, times.trusted, times.leap ?? null)
      this.#lookedAt = this.#parts.steady()
      return trustIn(times, at)
    })
  }

  /** The answer of a look that tells the file nothing. */
  async peek(): Promise<ClockTrust> {
    const { at, times } = await reading(this.#parts.db, () => this.#judged())
    return trustIn(times, at)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #judged(): { readonly known: Times; readonly at: number; readonly times: Times } {
    const { db, now, steady } = this.#parts
    const passed = this.#lookedAt === undefined ? 0 : Math.max(0, steady() - this.#lookedAt)
    const known = timesIn(db)
    const at = now()
    return { known, at, times: judge(known, at, passed) }
  }

  async #aside(): Promise<void> {
    try {
      await this.look()
    } catch {
      // The write itself has noted a failure of the disk, which health tells. Everything that removes by the clock looks again, and fails then.
    }
  }
}

/** The times of a file after a process has read `at`, so long after its last look by its steady clock. */
export function judge(known: Times, at: number, passedMs: number): Times {
  if (at <= known.trusted + clockLeapMs + passedMs) return { trusted: at }
  const { trusted, leap } = known
  if (leap === undefined || at < leap) return { trusted, leap: at }
  // Nobody has read a smaller time since. That proves the time at which it began, from which this one may be a leap again.
  return at < leap + clockProofMs ? known : judge({ trusted: leap }, at, passedMs)
}

const trustIn = ({ trusted, leap }: Times, at: number): ClockTrust =>
  leap === undefined ? { now: at, trusted: at } : { now: at, trusted, until: leap + clockProofMs }

function timesIn(db: Database): Times {
  const { trusted, leap } = db.get(find) as { readonly trusted: number; readonly leap: number | null }
  return { trusted, ...(leap !== null && { leap }) }
}

const differs = (a: Times, b: Times): boolean => a.leap !== b.leap || Math.abs(a.trusted - b.trusted) >= SAME_MS
