// A streamed answer: chunks are folded in memory, and the message is written a few times per second. A crash leaves the message as it was last
// written, and its record says that it was interrupted.

import { type Json, takeExact } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import type { MessageRecord, MessageRow } from '../../../model/thread.ts'
import { maskKey } from '../../naming/names.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { telling } from '../../writing/draft.ts'
import { type DoneRow, plan, readRow } from '../../writing/execute.ts'
import { conflictOrGone, retryConflicts } from '../../writing/retry-conflicts.ts'
import { takeMessage } from './check-message.ts'
import { stageContent } from './content.ts'
import { ChunkFold, type MessageChunk } from './fold-chunks.ts'
import { readMessage } from './linked-approvals.ts'
import type { ThreadPlace } from './list-messages.ts'
import { OpenMask } from './open-mask.ts'
import { type MessageOptions, messageRowId, planMessages, takeMessageOptions } from './plan-messages.ts'
import { takeRecord } from './record.ts'
import { spliceBetween } from './splice.ts'
import { checkMessageRow } from './stored-rows.ts'
import { whileThreadChanges, writeMessage } from './write-messages.ts'

export interface StreamOptions extends MessageOptions {
  /** Replaces the message that is stored under this id. By default the chunks continue it. */
  readonly restart?: boolean
}

export interface MessageStream extends AsyncDisposable {
  readonly id: string
  /** Folds a chunk into the message. It does not wait for the disk; a failed write is thrown by the next call. */
  write(chunk: MessageChunk): Promise<void>
  /** Writes what has come so far. */
  flush(): Promise<void>
  /** Sets members of the record beside the message with the next write. */
  record(record: MessageRecord): void
  /** Writes the rest. A message with an open part, an error or an abort stays marked as interrupted. */
  close(): Promise<void>
}

export class ThreadStream implements MessageStream {
  readonly id: string
  readonly #scope: Scope
  readonly #place: ThreadPlace
  readonly #options: MessageOptions & { readonly restart: boolean }
  readonly #mask: OpenMask | undefined
  readonly #ending = new AbortController()
  readonly #began: number
  #fold: ChunkFold | undefined
  #begun: Promise<ChunkFold> | undefined
  #row: DoneRow<MessageRow> | undefined
  /** Whether the stored message may have parts. */
  #hasParts = false
  #record: MessageRecord
  #written: Promise<void> = Promise.resolve()
  #failure: { readonly error: unknown } | undefined
  #waiting = false
  #closed = false

  constructor(scope: Scope, place: ThreadPlace, id: string, options: StreamOptions | undefined) {
    checkOpen(scope.engine)
    const { parent, trigger, execution, record, redact = true, restart = false, ...unknown } = optionsOf(options, 'stream')
    checkKnown(unknown, 'a stream')
    for (const [name, value] of Object.entries({ redact, restart }))
      if (typeof value !== 'boolean') throw invalidOption(name, 'true or false', value)
    // Refuses here what the first chunk would find.
    takeMessageOptions(scope, { parent, trigger, execution } as MessageOptions)
    const { redactor, environment } = scope.engine
    this.id = maskKey(scope, id)
    this.#scope = scope
    this.#place = place
    this.#options = { parent, trigger, execution, redact, restart } as MessageOptions & { readonly restart: boolean }
    this.#mask = redact && redactor ? new OpenMask(redactor) : undefined
    this.#record = record === undefined ? {} : takeRecord(scope, record)
    this.#began = environment.clock.monotonic()
  }

  async write(chunk: MessageChunk): Promise<void> {
    this.#check()
    const taken = telling(this.#scope, () => takeExact(chunk)) as unknown as MessageChunk
    // Calls that do not wait for one another go on in their order.
    const fold = await this.#begin()
    telling(this.#scope, () => fold.write(taken))
    if (!this.#waiting) this.#flushLater()
  }

  async flush(): Promise<void> {
    this.#check()
    await this.#begin()
    await this.#save(false)
    this.#check()
  }

  record(record: MessageRecord): void {
    this.#record = { ...this.#record, ...takeRecord(this.#scope, record) }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#ending.abort()
    if (this.#begun) {
      await this.#begun
      await this.#save(true)
    }
    if (this.#failure) throw this.#failure.error
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #check(): void {
    checkOpen(this.#scope.engine)
    if (this.#failure) throw this.#failure.error
    if (this.#closed) throw refuse('CHUNK_INVALID', { message: this.id, type: null, why: 'the stream is closed' })
  }

  /** Reads the message that is stored under this id, if there is one. */
  #begin(): Promise<ChunkFold> {
    this.#begun ??= (async () => {
      const { session, thread } = this.#place
      const found = await readRow(this.#scope, 'messages', messageRowId(this.#scope, session, this.id))
      const { body: row } = found
      if (row) checkMessageRow(row)
      if (row && row.thread !== thread) throw refuse('MESSAGE_ELSEWHERE', { thread, message: this.id, found: row.thread })
      if (row && !row.content) throw refuse('MESSAGE_ERASED', { message: this.id })
      if (row?.role && row.role !== 'assistant')
        throw refuse('MESSAGE_INVALID', { message: this.id, why: 'only messages of the assistant are streamed', path: '$.role' })
      const stored = row?.content && !this.#options.restart ? await readMessage(this.#scope, session, row.content) : undefined
      this.#row = row && found
      this.#hasParts = stored ? stored.parts.length > 0 : row !== undefined
      this.#fold = new ChunkFold(this.id, stored as unknown as { readonly [member: string]: unknown } | undefined)
      return this.#fold
    })()
    return this.#begun
  }

  #flushLater(): void {
    this.#waiting = true
    this.#scope.engine.environment.timer
      .idly(limits.messageStreamMs, this.#ending.signal)
      .then(() => {
        // A chunk that comes during the write has a write of its own.
        this.#waiting = false
        return this.#save(false)
      })
      .catch(() => {
        this.#waiting = false
      })
  }

  /** Writes come one after the other. A failure ends the stream and is told by the next call. */
  #save(last: boolean): Promise<void> {
    this.#written = this.#written.then(async () => {
      if (this.#failure) return
      try {
        await this.#store(last)
      } catch (error) {
        this.#failure = { error: isConflict(error, 'messages') ? refuse('MESSAGE_CHANGED', { message: this.id }, error) : error }
      }
    })
    return this.#written
  }

  async #store(last: boolean): Promise<void> {
    const fold = this.#fold as ChunkFold
    // There is nothing to write yet, unless the answer has ended or failed without a part, or lost the parts that it had.
    const isOver = fold.failure !== undefined || (last && (fold.finishReason !== undefined || this.#hasParts))
    if (fold.message.parts.length === 0 && !isOver) return
    const record = this.#recordOf(fold, last)
    const given = this.#mask && !last ? this.#mask.masked(fold.message) : fold.message
    const message = takeMessage(this.#scope, given, true)
    const hasParts = message.parts.length > 0
    const { redactor } = this.#scope.engine
    const masked = (this.#options.redact && redactor ? redactor.value(message) : message) as unknown as Json
    if (!this.#row) {
      this.#row = await this.#create(masked, record)
      this.#hasParts = hasParts
      return
    }
    const seen = this.#row
    this.#row = await retryConflicts(this.#scope, conflictOrGone(), async () => {
      const { content, nodes, guards } = await stageContent(this.#scope, masked)
      const before = seen.body?.content
      const named = { thread: this.#place.thread, message: this.id }
      const isExtended = before && 'text' in before && 'text' in content
      const command = isExtended
        ? ({ verb: 'extend', splice: spliceBetween(before.text, content.text), record, ...named } as const)
        : ({ verb: 'replace', content, record, ...named } as const)
      return writeMessage(this.#scope, this.#place, this.id, command, { seen, nodes, guards, once: true })
    })
    this.#hasParts = hasParts
  }

  async #create(message: Json, record: MessageRecord): Promise<DoneRow<MessageRow>> {
    const { session, thread } = this.#place
    const { restart: _, ...options } = this.#options
    return whileThreadChanges(this.#scope, this.#place, async () => {
      // Masked already.
      const about = { ...options, record, redact: false, thread, streamed: true }
      const planned = await planMessages(this.#scope, session, [message], about)
      const { rows } = await plan(this.#scope, planned.parts, {
        nodes: planned.nodes,
        guards: planned.guards,
        open: session,
        // A message that another writer has added meanwhile is not replaced.
        once: true,
      })
      planned.learn(rows)
      return rows[0] as DoneRow<MessageRow>
    })
  }

  /** Every write but the last says that the message is interrupted, so that a crash leaves it so. */
  #recordOf(fold: ChunkFold, last: boolean): MessageRecord {
    // The record of an earlier stream about its end is no longer true.
    const { interrupted: _, error: _error, aborted: _aborted, ...kept } = this.#row?.body?.record ?? {}
    const stored = this.#options.restart ? {} : kept
    const { clock } = this.#scope.engine.environment
    const failure = fold.failure && takeRecord(this.#scope, fold.failure)
    const isCut = !last || fold.failure !== undefined || fold.isOpen
    return {
      ...stored,
      ...this.#record,
      ...(fold.finishReason !== undefined && { finishReason: fold.finishReason }),
      ...failure,
      ...(last && { durationMs: Math.max(0, Math.round(clock.monotonic() - this.#began)), completedAt: clock.now() }),
      ...(isCut && { interrupted: true }),
    }
  }
}
