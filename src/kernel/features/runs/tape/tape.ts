// The tape: the events of a run as replay reads them, page by page, indexed by the call that they answer. The tape of a fork begins with
// that of its source.

import { hex } from '../../../../model/bytes.ts'
import type { EventRecord, Receipt } from '../../../../model/event.ts'
import type { RunId } from '../../../../model/ids.ts'
import { limits } from '../../../../model/limits.ts'
import type { ErrorData, Slot, Stored } from '../../../../model/run.ts'
import { decodePayload } from '../../../reading/decode-event.ts'
import type { Scope } from '../../../wiring/scope.ts'
import { type Asked, type AskKind, entryKey, slotOf } from '../program/call.ts'
import type { RecordedInput } from '../program/effect-input.ts'
import { isMark, markKey } from './append-mark.ts'
import { TAPE_TYPES } from './tape-types.ts'

/** Everything the tape has about one call of the program. */
export interface Entry {
  readonly kind: AskKind
  readonly name: string
  readonly branch: string
  readonly epoch?: number
  /** The seq of its first event. */
  readonly seq: number
  /** The time of its last event, by the recorder's clock. */
  readonly at: number
  /** The entry is complete. */
  readonly done: boolean
  readonly value?: Stored
  readonly error?: ErrorData
  /** Number of attempts that an effect took. */
  readonly attempts?: number
  readonly outcome?: Readonly<Record<string, unknown>>
  /** The effect was started, and its outcome is unknown. */
  readonly started?: boolean
  /** Started with `begin`: the program does the work itself. */
  readonly begun?: boolean
  /** The last failed attempt, and when the next one is due. */
  readonly retried?: { readonly attempt: number; readonly until: number }
  /** Set for a wait that has begun. */
  readonly wait?: { readonly until?: number; readonly on?: string }
  readonly receipt?: Receipt
  /** The declared input of an effect. */
  readonly input?: RecordedInput
}

/** The parts of a tape: the runs it was forked from, each up to a seq, then the run itself. */
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
  /** Entries of earlier epochs are left out. */
  #epoch = 0

  constructor(scope: Scope, sources: readonly Source[], origin: RunId) {
    this.#scope = scope
    this.#origin = origin
    this.#sources = sources
  }

  /** Number of entries in the last segment; exact once the tape was read to its end. */
  get inSegment(): number {
    return this.#inSegment
  }

  /** Begins after a checkpoint of the run or of a run that it was forked from. Called before anything is read. */
  startAfter(run: RunId, seq: number, epoch: number): void {
    this.#source = this.#sources.findIndex((source) => source.run === run)
    this.#from = seq
    this.#epoch = epoch
  }

  /** Takes the entry that a call asks for. An incomplete entry is looked for up to the end of the tape. */
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

  /** Reads the tape to its end, and returns the entries that no call has asked for yet. */
  async rest(): Promise<ReadonlyMap<string, Entry>> {
    while (!this.#ended) await this.#load()
    return this.#entries
  }

  /** Looks at the end of the tape again, where a person may have resolved an effect. */
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
    // A fork does not inherit unfinished entries of its source, and executes them again. Entries of `begin` stay, because the program asks
    // for them before later ones.
    for (const [key, entry] of this.#entries) if (!entry.done && !entry.begun) this.#entries.delete(key)
    this.#source++
    this.#from = source.to ?? this.#from
    this.#inSegment = 0
  }

  #add(record: EventRecord): void {
    const { type, key: mark } = record
    if (type === 'tape.sealed' || type === 'run.checkpointed') this.#inSegment = 0
    if (type === 'effect.streamed') {
      this.#inSegment++
      return
    }
    if (ON_TAPE.includes(type) && record.payload === undefined) {
      // The erased call is unknown, so replay cannot tell whether the program made it. The entry stays, and nothing new begins.
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
    // A branch that lost a race in an earlier epoch recorded it late.
    if ((slot.epoch ?? 0) < this.#epoch) return
    const key = entryKey(slot)
    const before = this.#entries.get(key)
    this.#inSegment++
    // The first outcome counts; later ones are ignored.
    if (before?.done) return
    const { kind, name, branch, epoch } = slot
    this.#entries.set(key, {
      ...before,
      kind,
      name,
      branch,
      ...(epoch && { epoch }),
      seq: before?.seq ?? record.seq,
      at: record.at,
      ...inputOf(data),
      ...told(type, data),
    })
  }
}

interface TapeData extends Slot {
  readonly kind?: AskKind
  readonly [more: string]: unknown
}

const ON_TAPE: readonly string[] = [
  ...TAPE_TYPES,
  'effect.resolved',
  'wait.began',
  'wait.ended',
  'run.used',
  'run.took',
  'run.checkpointed',
]

function askedBy(scope: Scope, { type, payload, seq }: EventRecord): { readonly slot: Asked; readonly data: TapeData } | undefined {
  if (!ON_TAPE.includes(type) || payload === undefined) return undefined
  const data = decodePayload(scope.tenant, seq, payload) as TapeData
  const kind = type === 'run.used' ? 'usage' : type === 'race.won' ? 'race' : (data.kind ?? 'effect')
  // The run itself recorded this wait for an unknown outcome; the program asks for the effect.
  if (kind === 'unknown') return undefined
  return { slot: { ...slotOf(data), kind }, data }
}

const inputOf = ({ input }: TapeData): Pick<Entry, 'input'> => (input === undefined ? {} : { input: input as RecordedInput })

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
    case 'run.checkpointed':
      return { done: true, outcome: data }
    default:
      return { done: true }
  }
}
