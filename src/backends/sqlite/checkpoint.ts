// Decides when the write-ahead log is copied into the file. SQLite itself does it inside a commit, which then waits for a thousand pages.
// Here a thread copies while commits continue, in passes that get shorter. Commits wait only for the last short pass, after which the log
// restarts from its beginning.

import { type InkError, refuse } from '../../model/errors.ts'
import { type CheckpointAnswer, type CheckpointOrder, CheckpointThreads, CLOSED } from './checkpoint-thread.ts'
import type { Database, Durability } from './database.ts'
import { isDamage, noted, readFailure, unreadPages } from './failures.ts'

export interface CheckpointPolicy {
  /** Frames in the log before copying begins. */
  readonly begin: number
  /** Frames left to copy that commits may wait for. */
  readonly short: number
  /** Frames in the log beyond which commits always wait. This bounds the log. */
  readonly most: number
}

// A frame is a page of 4 KiB and a small header.
export const defaultPolicy: CheckpointPolicy = { begin: 1000, short: 64, most: 16_384 }

export interface CheckpointStats {
  readonly passes: number
  readonly waits: number
  readonly mostFrames: number
}

// The longest wait of commits: for the last short pass, within the write budget; and for a full log.
const SHORT_WAIT_MS = 8
const FULL_WAIT_MS = 1000

// Approximate number of pages written between two looks at the log.
const LOOK_AFTER = 64
// Number of passes before commits wait in any case: under a load that outruns the thread, the log would only grow.
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

  /** Uses the given shared threads, or its own pair. */
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

  /** Called after a batch. A small batch does not look at the log: that costs a single caller a twentieth of its time. */
  committed(pages: number): void {
    this.#unseen += pages
    if (this.#unseen < LOOK_AFTER) return
    this.#unseen = 0
    let seen: { log: number; checkpointed: number }
    try {
      seen = this.#frames()
    } catch (error) {
      // The batch is saved all the same. Health reports the failure, and the next batch looks again.
      this.failure = error instanceof Error ? error.message : String(error)
      return
    }
    const { log, checkpointed } = seen
    if (log > this.#mostFrames) this.#mostFrames = log
    if (log - checkpointed <= 0 || log < this.#policy.begin) return
    this.#copying ??= this.#copy().finally(() => {
      this.#copying = undefined
    })
    // The thread is busy and the log is full: further commits wait for it.
    if (log >= this.#policy.most) this.#hold(FULL_WAIT_MS)
  }

  /** Reads every page in a separate thread, so that it delays neither the event loop nor the copying. */
  async check(): Promise<readonly string[]> {
    let answer = await this.#ask('check')
    // A page that the disk did not read (EIO) looks like damage that prevents the check. A passing failure is over at the second try.
    if ('failed' in answer && isDamage(answer.errcode)) answer = await this.#ask('check')
    if ('damage' in answer) {
      const [unread] = unreadPages(answer.damage)
      if (unread !== undefined) throw this.#notChecked(unread)
      return answer.damage.filter((line) => line !== 'ok')
    }
    const failed = 'failed' in answer ? answer : { failed: 'no answer', errcode: undefined }
    if (failed.failed === CLOSED) throw refuse('STORE_CLOSED')
    // Damage may prevent the check from running. Any other failure says nothing about the file.
    const unread = isDamage(failed.errcode) ? readFailure(this.#db) : failed.failed
    if (unread === undefined) return [failed.failed]
    throw this.#notChecked(unread)
  }

  async close(): Promise<void> {
    this.#closing = true
    await this.#copying
    // Deno ends a thread without closing its connection, and then nobody removes the log.
    if (this.#copied) await this.#order('leave')
    if (this.#ownThreads) await this.#threads.close()
  }

  /** Copies the log before closing: with the file open elsewhere, short-lived writers would let the log grow without end. */
  last(): void {
    if (this.#db.readOnly) return
    try {
      if (this.#frames().log >= this.#policy.begin) this.#db.get('pragma wal_checkpoint(passive)')
    } catch (error) {
      // The log stays, and the next process that opens the file reads it.
      this.failure = error instanceof Error ? error.message : String(error)
    }
  }

  #notChecked(reason: string): InkError {
    return noted(this.#db, refuse('IO_FAILED', { path: this.#db.path, reason: `the pages could not be checked: ${reason}` }))
  }

  #frames(): { log: number; checkpointed: number } {
    const row = this.#db.get(frames)
    return { log: row?.log as number, checkpointed: row?.checkpointed as number }
  }

  // Repeats passes until nothing is left, or until a reader's snapshot or a copy by another process blocks it.
  async #copy(): Promise<void> {
    try {
      for (let pass = 1, held = false; ; pass++, held = this.#gate !== undefined) {
        const answer = await this.#ask('copy')
        this.#passes++
        if (!('log' in answer)) {
          // The log keeps all acknowledged commits and grows. Health reports the failure, and the next batch tries again.
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
      // Even the length of the log could not be read.
      this.failure = error instanceof Error ? error.message : String(error)
    } finally {
      this.#release()
    }
  }

  /** Holds back commits until the copying is done, but at most `ms`: a slow disk must not block them for ever. */
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
