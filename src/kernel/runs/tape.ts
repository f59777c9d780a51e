// The tape: a run's events as replay reads them, a page at a time, found by what the program asks for. A fork's begins with another's.

import { hex } from '../../model/bytes.ts'
import type { EventRecord, Receipt } from '../../model/event.ts'
import type { RunId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { ErrorData, Slot, Stored } from '../../model/run.ts'
import { decodePayload } from '../read.ts'
import type { Scope } from '../scope.ts'
import { isMark, markKey } from './append-mark.ts'
import { type Asked, type AskKind, entryKey } from './asked.ts'
import { TAPE_TYPES } from './tape-types.ts'

/** What the tape holds about one thing that the program asked for. */
export interface Entry {
  readonly kind: AskKind
  readonly name: string
  readonly branch: string
  /** Of its first event. */
  readonly seq: number
  /** By the clock of whoever recorded it last. */
  readonly at: number
  /** Nothing more will come of it. */
  readonly done: boolean
  readonly value?: Stored
  readonly error?: ErrorData
  /** How many attempts an effect took. */
  readonly attempts?: number
  readonly outcome?: Readonly<Record<string, unknown>>
  /** An effect that was begun and of which nothing more is known. */
  readonly started?: boolean
  /** With `begin`: the program does it itself. */
  readonly begun?: boolean
  /** The last attempt that failed, and when the next one is due. */
  readonly retried?: { readonly attempt: number; readonly until: number }
  /** Of a wait that has begun. */
  readonly wait?: { readonly until?: number; readonly on?: string }
  readonly receipt?: Receipt
}

/** Where a tape lies: the runs it was forked from, each up to a seq, then its own. */
export interface Source {
  readonly run: RunId
  readonly to?: number
}

const PAGE = 256

export class Tape {
  readonly #scope: Scope
  readonly #sources: readonly Source[]
  readonly #origin: RunId
  readonly #entries = new Map<string, Entry>()
  #source = 0
  #from = 0
  #ended = false
  #loading: Promise<void> | undefined
  #inSegment = 0

  constructor(scope: Scope, sources: readonly Source[], origin: RunId) {
    this.#scope = scope
    this.#origin = origin
    this.#sources = sources
  }

  /** Entries of the last segment; right once the tape has been read to its end. */
  get inSegment(): number {
    return this.#inSegment
  }

  /** Takes an entry off: it was asked for. One that is not done is looked for to the end of the tape. */
  async take(key: string): Promise<Entry | undefined> {
    for (;;) {
      const entry = this.#entries.get(key)
      if (entry?.done || this.#ended) {
        this.#entries.delete(key)
        return entry
      }
      await this.#load()
    }
  }

  /** What is recorded and was not asked for yet, once all of it is read. */
  async rest(): Promise<ReadonlyMap<string, Entry>> {
    while (!this.#ended) await this.#load()
    return this.#entries
  }

  /** Others wrote to the end of the tape: an answer to an effect whose outcome was unknown. */
  async look(key: string): Promise<Entry | undefined> {
    this.#ended = false
    return this.take(key)
  }

  #load(): Promise<void> {
    this.#loading ??= this.#loadPage().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #loadPage(): Promise<void> {
    const source = this.#sources[this.#source] as Source
    const page = await this.#scope.engine.backend.journal.page(this.#scope.tenant, {
      run: source.run,
      from: this.#from,
      ...(source.to !== undefined && { to: source.to }),
      limit: PAGE,
      bytes: limits.pageBytes,
    })
    for (const record of page.events) this.#add(record)
    this.#from = page.through
    if (page.more) return
    if (this.#source === this.#sources.length - 1) {
      this.#ended = true
      return
    }
    // What another run left unfinished is not this one's: it is asked for anew.
    // But for what was begun and is the program's own to do: it asks for that before what came after it.
    for (const [key, entry] of this.#entries) if (!entry.done && !entry.begun) this.#entries.delete(key)
    this.#source++
    this.#from = source.to ?? this.#from
    this.#inSegment = 0
  }

  #add(record: EventRecord): void {
    const { type, key: mark } = record
    if (type === 'tape.sealed') this.#inSegment = 0
    if (type === 'effect.streamed') {
      this.#inSegment++
      return
    }
    if (ON_TAPE.includes(type) && record.payload === undefined) {
      // Nobody can tell any more what was asked for, so nobody can tell what was not: it stays, and nothing new begins beside it.
      this.#entries.set(`erased ${record.seq}`, {
        kind: 'effect',
        name: '(erased)',
        branch: '',
        seq: record.seq,
        at: record.at,
        done: true,
      })
      return
    }
    const asked = askedBy(this.#scope, record)
    if (!asked) {
      if (mark === undefined || record.subject !== undefined || !isMark(this.#scope, this.#origin, mark)) return
      const receipt = { id: record.id, seq: record.seq, hash: hex(record.hash), tenant: this.#scope.tenant }
      this.#inSegment++
      this.#entries.set(markKey(mark), { kind: 'append', name: type, branch: '', seq: record.seq, at: record.at, done: true, receipt })
      return
    }
    const { slot, data } = asked
    const key = entryKey(slot)
    const before = this.#entries.get(key)
    this.#inSegment++
    // The first outcome counts, whatever was written after it.
    if (before?.done) return
    const { kind, name, branch } = slot
    this.#entries.set(key, { ...before, kind, name, branch, seq: before?.seq ?? record.seq, at: record.at, ...told(type, data) })
  }
}

interface TapeData extends Slot {
  readonly kind?: AskKind
  readonly [more: string]: unknown
}

const ON_TAPE: readonly string[] = [...TAPE_TYPES, 'effect.resolved', 'wait.began', 'wait.ended', 'run.used', 'run.took']

function askedBy(scope: Scope, { type, payload, seq }: EventRecord): { readonly slot: Asked; readonly data: TapeData } | undefined {
  if (!ON_TAPE.includes(type) || payload === undefined) return undefined
  const data = decodePayload(scope.tenant, seq, payload) as TapeData
  const kind = type === 'run.used' ? 'usage' : type === 'race.won' ? 'race' : (data.kind ?? 'effect')
  // Asked by the run itself, when nobody knew how an effect had ended; the program asks for the effect.
  if (kind === 'unknown') return undefined
  return { slot: { branch: data.branch, name: data.name, ordinal: data.ordinal, kind }, data }
}

function told(type: string, data: TapeData): Partial<Entry> & { readonly done: boolean } {
  switch (type) {
    case 'effect.started':
      return { done: false, started: true, ...(data.begun === true && { begun: true }) }
    case 'effect.retried':
      return { done: false, started: false, retried: { attempt: data.attempt as number, until: data.until as number } }
    case 'effect.settled':
    case 'effect.resolved':
      return {
        done: true,
        attempts: data.attempt as number,
        ...(data.error ? { error: data.error as ErrorData } : { value: (data.result ?? {}) as Stored }),
      }
    case 'wait.began': {
      const { until, on } = data as { until?: number; on?: string }
      return { done: false, wait: { ...(until !== undefined && { until }), ...(on !== undefined && { on }) } }
    }
    case 'wait.ended':
    case 'race.won':
    case 'run.took':
    case 'run.used':
      return { done: true, outcome: data }
    default:
      return { done: true }
  }
}
