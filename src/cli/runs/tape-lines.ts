// One line per entry of a run's tape: the call, its branch and its outcome. Bookkeeping of the queue is left out; `inkfast events --run`
// and --json have it.

import type { CheckpointManifest, ErrorData, Event, RunRow, Store, Usage, Wait } from '../../index.ts'
import type { LeaseEnd } from '../../model/lease.ts'
import { count, one, time } from '../format.ts'
import type { Column } from '../table.ts'
import { jsonLine } from '../text.ts'
import { componentsText, dollars, errorText, storedText, waitText } from './text.ts'

export const tapeColumns: readonly Column[] = [
  { title: 'seq', right: true, least: 6, style: 'bold' },
  { title: 'since start', right: true, style: 'dim' },
  { title: '', style: (mark) => (mark === '✓' || mark === '●' ? 'green' : mark === '✗' ? 'red' : '↻?⏸'.includes(mark) ? 'yellow' : 'dim') },
  { title: 'what', most: 40, least: 12, style: 'cyan' },
  { title: 'try', right: true, optional: true },
  { title: 'took', right: true, optional: true, style: 'dim' },
  { title: 'came of it' },
]

type Data = Readonly<Record<string, unknown>>

interface Line {
  readonly mark: string
  readonly what: string
  readonly attempt?: unknown
  readonly detail?: string | undefined
}

interface Outcome {
  readonly error?: ErrorData
  readonly result?: RunRow['result']
  /** The declared input of the effect. */
  readonly input?: { readonly stored: RunRow['input'] }
}

export class TapeLines {
  readonly #unsettled: ReadonlyMap<string, string>
  #start: number | undefined
  #taken: Event | undefined
  #last = ''

  /** `unsettled`: idempotency keys of effects that were begun and have no outcome, from `unsettledOf`. */
  constructor(unsettled: ReadonlyMap<string, string>) {
    this.#unsettled = unsettled
  }

  /** Undefined for an event that is not shown, or is part of the line before. */
  cells(e: Event): readonly string[] | undefined {
    this.#start ??= e.at
    const before = this.#last
    this.#last = e.type
    if (e.type === 'lease.taken') this.#taken = e
    if (LEFT_OUT.includes(e.type) || (e.type === 'lease.released' && SAYS_SO.includes(before))) {
      this.#last = before
      return undefined
    }
    const { mark, what, attempt, detail } = e.erased ? { mark: '·', what: e.type, detail: '(erased)' } : this.#line(e)
    return [
      String(e.seq),
      this.#at(e.at),
      mark,
      what,
      attempt === undefined ? '' : String(attempt),
      tookOf(e),
      `${detail ?? ''}${replayedText(e)}`,
    ]
  }

  #line(e: Event): Line {
    const data = (e.data ?? {}) as Data
    const { attempt } = data
    switch (e.type) {
      case 'run.opened': {
        const { input, fork } = data as Pick<RunRow, 'input' | 'fork'>
        return fork
          ? { mark: '⑂', what: 'forked', detail: `from ${fork.run}, with its steps up to seq ${fork.at}` }
          : { mark: '○', what: 'opened', detail: storedText(input) }
      }
      case 'run.started':
        return { mark: '»', what: 'taken up', attempt, detail: this.#holder() }
      case 'effect.started':
        return this.#unsettled.has(slotOf(e))
          ? { mark: '?', what: placed(data), attempt, detail: `interrupted, outcome unknown; key ${this.#unsettled.get(slotOf(e))}` }
          : { mark: '…', what: placed(data), attempt, detail: 'begun' }
      case 'effect.streamed':
        return { mark: '~', what: placed(data), attempt, detail: jsonLine(data.text) }
      case 'effect.retried': {
        const { error, until } = data as { readonly error?: ErrorData; readonly until?: number }
        const next = until === undefined ? '' : `; again at ${this.#at(until)}`
        return { mark: '↻', what: placed(data), attempt, detail: `${error ? errorText(error) : ''}${next}` }
      }
      case 'effect.settled':
      case 'effect.resolved': {
        const { error, result, input } = data as Outcome
        const said = `${error ? errorText(error) : (storedText(result) ?? '')}${input ? `, for ${storedText(input.stored)}` : ''}`
        const detail = e.type === 'effect.resolved' ? `resolved by hand: ${said}` : said
        return { mark: error ? '✗' : '✓', what: placed(data), attempt, detail }
      }
      case 'race.won':
        return { mark: '⚑', what: placed(data), detail: `${data.winner} came first` }
      case 'wait.began':
        return { mark: '⏸', what: placed(data), detail: this.#waiting(data as unknown as Wait) }
      case 'wait.ended':
        return { mark: '▶', what: placed(data), detail: outcomeText(data) }
      case 'run.took':
        return { mark: '✓', what: placed(data), detail: tookText(data) }
      case 'run.used':
        return { mark: '$', what: placed(data), detail: usageText(data.usage as Usage) }
      case 'run.checkpointed':
        return { mark: '⛁', what: 'checkpoint', detail: checkpointText(data) }
      case 'tape.sealed':
        return { mark: '▤', what: 'sealed', detail: `segment ${data.segment}, ${one(Number(data.entries), 'entry').replace(/ys$/, 'ies')}` }
      case 'lease.released':
        return { mark: '«', what: 'released' }
      case 'run.parked':
        return { mark: '«', what: 'released', detail: 'while it waits' }
      case 'run.halted':
        return { mark: '✗', what: 'halted', detail: errorText(data.error as ErrorData) }
      case 'run.finished':
        return { mark: '●', what: 'done', detail: storedText(data.result as RunRow['result']) }
      case 'run.failed':
        return { mark: '✗', what: 'failed', detail: errorText(data.error as ErrorData) }
      case 'run.cancelled':
        return { mark: '✗', what: 'cancelled', detail: String(data.reason) }
      case 'approval.decided':
        return { mark: '·', what: 'answer', detail: outcomeText(data) }
      case 'input.offered':
        return { mark: '·', what: 'input', detail: storedText(data.content as RunRow['input']) }
      case 'input.deferred':
        return { mark: '·', what: 'input', detail: 'left to the next turn' }
      case 'input.cancelled':
        return { mark: '·', what: 'input', detail: 'withdrawn' }
      case 'work.woken':
        return { mark: '·', what: 'woken' }
      default:
        return { mark: '✎', what: e.type, detail: jsonLine(e.data) }
    }
  }

  #at(ms: number): string {
    return elapsed(ms - (this.#start ?? ms))
  }

  #waiting(wait: Wait): string {
    return `${waitText(wait)}${wait.until === undefined ? '' : `, until ${time(wait.until)} (${this.#at(wait.until)})`}`
  }

  #holder(): string {
    const taken = this.#taken
    this.#taken = undefined
    const { owner, previous } = (taken?.data ?? {}) as { readonly owner?: string; readonly previous?: LeaseEnd }
    return taken ? `by ${owner ?? '(erased)'}, fence ${taken.seq}${this.#end(previous)}` : 'by an earlier holder'
  }

  /** How the holder before ended. The first holder has none. */
  #end(previous: LeaseEnd | undefined): string {
    if (!previous) return ''
    const { why, fence, renewedAt } = previous
    const renewed = renewedAt === undefined ? '' : `, last renewed at ${this.#at(renewedAt)}`
    return `, after ${fence === undefined ? 'the lease' : `fence ${fence}`} ${Object.hasOwn(ENDS, why) ? ENDS[why] : why}${renewed}`
  }
}

const ENDS: Readonly<Record<LeaseEnd['why'], string>> = { released: 'was released', lapsed: 'lapsed', gone: 'was left by a dead process' }

// `run.started` shows the first of these; the others belong to a wait or to the queue.
const LEFT_OUT: readonly string[] = [
  'run.prompted',
  'input.accepted',
  'input.completed',
  'batch.claimed',
  'batch.completed',
  'batch.released',
  'lease.taken',
  'approval.requested',
  'approval.delivered',
  'approval.seen',
  'permit.granted',
  'approval.expired',
  'approval.withdrawn',
  'signal.taken',
  'work.offered',
  'work.claimed',
  'work.released',
  'work.parked',
  'work.completed',
]

/** After these events the release of the lease is not shown. */
const SAYS_SO: readonly string[] = ['run.parked', 'run.halted', 'run.finished', 'run.failed', 'run.cancelled', 'input.deferred']

const ENDS_ATTEMPT: readonly string[] = ['run.parked', 'run.halted', 'run.finished', 'run.failed', 'run.cancelled', 'lease.released']

const slotOf = ({ data }: Event): string => {
  const { branch, name, ordinal, epoch } = (data ?? {}) as Data
  return JSON.stringify([branch, name, ordinal, epoch])
}

const ENDS_IT: readonly string[] = ['effect.settled', 'effect.resolved', 'effect.retried']

/**
 * Finds effects that were begun and never settled, with their idempotency keys, by which the service knows them. One pass, which keeps only
 * open effects in memory.
 */
export async function unsettledOf({ runs }: Pick<Store, 'runs'>, id: string): Promise<ReadonlyMap<string, string>> {
  const begun = new Map<string, Event>()
  for await (const e of runs.tape(id)) {
    if (e.type === 'effect.started' && !e.erased) begun.set(slotOf(e), e)
    else if (ENDS_IT.includes(e.type)) begun.delete(slotOf(e))
  }
  const keys = new Map<string, string>()
  for (const [slot, { run = id, data }] of begun) {
    const { branch, name, ordinal, epoch = 0 } = data as Wait
    keys.set(slot, await runs.effectKey(run, { branch, name, ordinal, epoch }))
  }
  return keys
}

/** How many entries the attempt that ends here replayed. Absent if it replayed none. */
function replayedText({ type, data }: Event): string {
  const replayed = ENDS_ATTEMPT.includes(type) ? Number(((data ?? {}) as Data).replayed ?? 0) : 0
  return replayed > 0 ? ` (${one(replayed, 'entry', 'entries')} replayed)` : ''
}

const ATTEMPTS: readonly string[] = ['effect.settled', 'effect.retried']

/** How long the work of an attempt took, by the clock of its node. */
function tookOf({ type, at, data }: Event): string {
  const { startedAt } = (data ?? {}) as Data
  return ATTEMPTS.includes(type) && typeof startedAt === 'number' ? elapsed(at - startedAt).replace('+', '') : ''
}

const PREFIXED: readonly unknown[] = ['start', 'inputs', 'inbox', 'canvas', 'remember']
const SETTLED: Readonly<Record<string, string>> = { inboxDone: 'inbox done ', inboxRelease: 'inbox release ' }

/** Indents a name by the depth of its branch, with the last part of the branch in front. */
function placed({ branch, name, ordinal, kind }: Data): string {
  const path = String(branch ?? '')
  const parts = path === '' ? [] : path.split('/')
  const inBranch = parts.length === 0 ? '' : `${'  '.repeat(parts.length)}${parts.at(-1)}: `
  return `${inBranch}${PREFIXED.includes(kind) ? `${kind} ` : (SETTLED[String(kind)] ?? '')}${name ?? '(erased)'}${Number(ordinal) > 1 ? ` #${ordinal}` : ''}`
}

function outcomeText(data: Data): string {
  const { state, by, value, error, expired, left, note } = data as {
    readonly state?: string
    readonly by?: string
    readonly value?: unknown
    readonly error?: ErrorData
    readonly expired?: boolean
    readonly left?: boolean
    readonly note?: string
  }
  const said = [
    expired ? 'nothing came in time' : left ? 'left: another branch came first' : state,
    by === undefined ? '' : `by ${by}`,
    note === undefined ? '' : `(${note})`,
    error ? errorText(error) : saysMore(state, value) ? jsonLine(value) : '',
  ]
  return said.filter((text) => text !== undefined && text !== '').join(' ')
}

const saysMore = (state: string | undefined, value: unknown): boolean =>
  value !== undefined && !((state === 'approved' && value === 'approve') || (state === 'denied' && value === 'deny'))

/** The components that were stored, and the epoch that follows. */
const checkpointText = ({ epoch = 0, manifest }: Data): string =>
  `${componentsText(manifest as CheckpointManifest)}; epoch ${Number(epoch) + 1} begins`

/** Describes what the run took from its session, or why there was nothing. */
function tookText({ kind, inputs, batches, claim, redriven, why, unknown, version, item, refused }: Data): string {
  if (refused) return `refused: ${(refused as { code: string }).code}`
  if (kind === 'canvas' || kind === 'remember') return kind === 'canvas' ? `version ${version}` : `item ${item}`
  if (kind === 'inboxDone' || kind === 'inboxRelease')
    return unknown ? 'it has no such claim' : kind === 'inboxDone' ? 'the claim is done' : 'its items are pending again'
  if (why !== undefined) return `nothing: ${why}`
  const taken = ((kind === 'inputs' ? inputs : batches) ?? []) as readonly { content?: RunRow['input']; payload?: RunRow['input'] }[]
  if (taken.length === 0) return 'nothing'
  const said = taken.map(({ content, payload }) => storedText(content ?? payload) ?? '').join(', ')
  return `${claim === undefined ? '' : `claim ${claim}${redriven ? ', taken over' : ''}: `}${said}`
}

function usageText({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costNanoUsd }: Usage): string {
  const cached = cacheReadTokens + cacheWriteTokens
  return `${count(inputTokens)} in, ${count(outputTokens)} out${cached > 0 ? `, ${count(cached)} cached` : ''}, ${dollars(BigInt(costNanoUsd))}`
}

const two = (n: number): string => String(n).padStart(2, '0')

/** `0.214`, `3:05.214`, `2:03:05`, `3 d 02:03:05`: ends in seconds, by the writer's clock. */
export function elapsed(ms: number): string {
  const sign = ms < 0 ? '-' : '+'
  const whole = Math.abs(Math.round(ms))
  const [days, hours, minutes] = [Math.floor(whole / 86_400_000), Math.floor(whole / 3_600_000) % 24, Math.floor(whole / 60_000) % 60]
  const seconds = ((whole % 60_000) / 1000).toFixed(3)
  if (days > 0) return `${sign}${days} d ${two(hours)}:${two(minutes)}:${two(Math.floor(Number(seconds)))}`
  if (hours > 0) return `${sign}${hours}:${two(minutes)}:${two(Math.floor(Number(seconds)))}`
  return minutes > 0 ? `${sign}${minutes}:${seconds.padStart(6, '0')}` : `${sign}${seconds}`
}
