// When the write-ahead log is copied into the file. SQLite's own way does it inside a commit, which then waits for a thousand pages
// to be written and flushed. Here a thread does it while commits go on; it goes over the log again and again, each time over the
// little that was added meanwhile, and only for the last little do commits wait, so that the log can start from its beginning.

import { refuse } from '../../model/errors.ts'
import { type CheckpointAnswer, type CheckpointOrder, CheckpointThreads, CLOSED } from './checkpoint-thread.ts'
import { type Database, type Durability, SQLITE } from './database.ts'

export interface CheckpointPolicy {
  /** Frames in the log before copying begins. */
  readonly begin: number
  /** Frames left to copy that commits may wait for. */
  readonly short: number
  /** Frames in the log beyond which commits wait in any case: what bounds the file. */
  readonly most: number
}

// A frame is a page of 4 KiB and a little.
export const defaultPolicy: CheckpointPolicy = { begin: 1000, short: 64, most: 16_384 }

export interface CheckpointStats {
  readonly passes: number
  readonly waits: number
  readonly mostFrames: number
}

// The longest commits wait for the last little: within the write budget, and when the log is full.
const SHORT_WAIT_MS = 8
const FULL_WAIT_MS = 1000

// Pages written, roughly, between two looks at the log.
const LOOK_AFTER = 64
// How often the thread goes over the log before commits wait for it whatever is left: at a load that outruns it, the log would only grow.
const PATIENCE = 8

const frames = 'pragma wal_checkpoint(noop)'

export class Checkpointer {
  readonly #db: Database
  readonly #durability: Durability
  readonly #policy: CheckpointPolicy
  readonly #threads: CheckpointThreads
  readonly #ownThreads: boolean
  #copied = false
  #closing = false
  #copying: Promise<void> | undefined
  #gate: Promise<void> | undefined
  #open: (() => void) | undefined
  #unseen = 0
  #passes = 0
  #waits = 0
  #mostFrames = 0
  failure: string | undefined

  /** With threads that others use too, or a pair of its own. */
  constructor(db: Database, durability: Durability, policy: CheckpointPolicy = defaultPolicy, threads?: CheckpointThreads) {
    this.#db = db
    this.#durability = durability
    this.#policy = policy
    this.#threads = threads ?? new CheckpointThreads()
    this.#ownThreads = threads === undefined
  }

  stats(): CheckpointStats {
    return { passes: this.#passes, waits: this.#waits, mostFrames: this.#mostFrames }
  }

  /** Resolves at once, except while commits wait for the log to be emptied. */
  ready(): Promise<void> | undefined {
    return this.#gate
  }

  /** After a batch. A small one does not look at the log: asking costs a single caller a twentieth of its time. */
  committed(pages: number): void {
    this.#unseen += pages
    if (this.#unseen < LOOK_AFTER) return
    this.#unseen = 0
    let seen: { log: number; checkpointed: number }
    try {
      seen = this.#frames()
    } catch (error) {
      // The batch is saved all the same; health tells, and the next one looks again.
      this.failure = error instanceof Error ? error.message : String(error)
      return
    }
    const { log, checkpointed } = seen
    if (log > this.#mostFrames) this.#mostFrames = log
    if (log - checkpointed <= 0 || log < this.#policy.begin) return
    this.#copying ??= this.#copy().finally(() => {
      this.#copying = undefined
    })
    // The thread is busy with what came before, and the log is full: whoever comes next waits for it.
    if (log >= this.#policy.most) this.#hold(FULL_WAIT_MS)
  }

  /** Reads every page in a thread of its own, so that neither the event loop nor the copying waits for it. */
  async check(): Promise<readonly string[]> {
    const answer = await this.#ask('check')
    if ('damage' in answer) return answer.damage.filter((line) => line !== 'ok')
    const failed = 'failed' in answer ? answer : { failed: 'no answer', errcode: undefined }
    if (failed.failed === CLOSED) throw refuse('STORE_CLOSED')
    // Damage may be what keeps the check from running; anything else says nothing about the file.
    const code = (failed.errcode ?? 0) & 0xff
    if (code === SQLITE.CORRUPT || code === SQLITE.NOTADB) return [failed.failed]
    throw refuse('IO_FAILED', { path: this.#db.path, reason: `the pages could not be checked: ${failed.failed}` })
  }

  async close(): Promise<void> {
    this.#closing = true
    await this.#copying
    if (this.#ownThreads) await this.#threads.close()
    else if (this.#copied) await this.#order('leave')
  }

  /** Before the connection goes: others may keep the file open, and short-lived writers would leave them a log without end. */
  last(): void {
    if (this.#db.readOnly) return
    try {
      if (this.#frames().log >= this.#policy.begin) this.#db.get('pragma wal_checkpoint(passive)')
    } catch (error) {
      // The log stays, and is read by whoever opens next.
      this.failure = error instanceof Error ? error.message : String(error)
    }
  }

  #frames(): { log: number; checkpointed: number } {
    const row = this.#db.get(frames)
    return { log: row?.log as number, checkpointed: row?.checkpointed as number }
  }

  // Goes over the log until nothing is left, or until nothing more can be done: a reader holds an old picture, another process copies.
  async #copy(): Promise<void> {
    try {
      for (let pass = 1, held = false; ; pass++, held = this.#gate !== undefined) {
        const answer = await this.#ask('copy')
        this.#passes++
        if (!('log' in answer)) {
          // The log only grows for now; what was acknowledged is in it. Health says so, the next batch tries again.
          this.failure = 'failed' in answer ? answer.failed : 'the log could not be copied'
          return
        }
        this.failure = undefined
        const { log, checkpointed } = this.#frames()
        const left = log - checkpointed
        if (this.#closing || left <= 0 || held || answer.checkpointed < answer.log) return
        if (left <= this.#policy.short || pass >= PATIENCE) this.#hold(SHORT_WAIT_MS)
      }
    } catch (error) {
      // The file could not even be asked how long its log is.
      this.failure = error instanceof Error ? error.message : String(error)
    } finally {
      this.#release()
    }
  }

  /** Commits wait from now on, until the copying is done. Not without end: a slow disk may let the log grow, but not hold up for ever. */
  #hold(ms: number): void {
    if (this.#gate) return
    this.#waits++
    const { promise, resolve } = Promise.withResolvers<void>()
    const late = setTimeout(() => this.#release(), ms)
    this.#gate = promise
    this.#open = () => {
      clearTimeout(late)
      resolve()
    }
  }

  #release(): void {
    this.#gate = undefined
    this.#open?.()
    this.#open = undefined
  }

  #ask(work: 'copy' | 'check'): Promise<CheckpointAnswer> {
    if (this.#closing) return Promise.resolve({ failed: CLOSED, errcode: undefined })
    if (work === 'copy') this.#copied = true
    return this.#order(work)
  }

  #order(work: CheckpointOrder['work']): Promise<CheckpointAnswer> {
    return this.#threads.ask({ name: this.#db.name, readOnly: this.#db.readOnly, synchronous: this.#durability, work })
  }
}
