// An effect is an action outside the store, recorded once. Its result is on the tape before the program sees it, and a recorded effect is not repeated.

import { InkError, refuse } from '../../../../model/errors.ts'
import { checkFlag, checkKnown, invalidOption, optionsOf, ownMembers } from '../../../../model/options.ts'
import type { ErrorData, Stored } from '../../../../model/run.ts'
import { type Backoff, restMs } from '../../../../model/work.ts'
import { store } from '../../../content/json-or-blob.ts'
import { briefError, errorData, errorOf, member } from '../../../failing/error-data.ts'
import { WriteTime } from '../../../measuring/write-time.ts'
import { Bell } from '../../../reading/read-events.ts'
import { type BackoffOptions, takeBackoff } from '../../../time/backoff.ts'
import { isSeenOpen, openGuard } from '../../../writing/session-guard.ts'
import { never } from '../node/parking.ts'
import type { Entry } from '../tape/tape.ts'
import type { RunWriter } from '../writing/run-writer.ts'
import { isPassing } from '../writing/transient-error.ts'
import { type Asked, entryKey, placeOf, slotOf } from './call.ts'
import type { DeclaredInput, RecordedInput } from './effect-input.ts'
import { EffectStream } from './stream.ts'
import { nap, storeTime, waitFor } from './wait.ts'

export interface EffectContext {
  /** The same for every attempt and after every crash. Pass it on as an idempotency key. */
  readonly key: string
  /** The number of the attempt, from 1. */
  readonly attempt: number
  /** Aborted when the run is lost or cancelled. */
  readonly signal: AbortSignal
  /** Streams text to observers. It is recorded in few entries, and replay does not read it. */
  stream(text: string): void
}

export interface RetryOptions {
  /** The number of attempts, including the first one. The default is 3. */
  readonly attempts?: number
  /** The delay before a retry: `'1s'`, the default, or `{ first, factor, most }`. A delay is never longer than a day. */
  readonly backoff?: BackoffOptions
}

export interface EffectOptions {
  readonly retry?: RetryOptions
  /** After a crash in the middle: repeat the effect (the default), or hold the run until a person says how it ended. */
  readonly ifUnknown?: 'retry' | 'ask'
  /** `false` stores the result without masking secrets. */
  readonly redact?: boolean
  /** Recorded with the outcome. Replay refuses another input with REPLAY_DIVERGED. */
  readonly input?: unknown
}

interface Retry {
  readonly attempts: number
  readonly backoff: Backoff
}

const DAY = 86_400_000

function takeRetry(given: RetryOptions | undefined): Retry {
  if (given === undefined) return ONCE
  const { attempts = 3, backoff, ...unknown } = optionsOf(given, 'retry')
  checkKnown(unknown, 'retry')
  if (!Number.isSafeInteger(attempts) || attempts < 1) throw invalidOption('retry.attempts', 'an integer ≥ 1', attempts)
  const taken = takeBackoff(backoff)
  return { attempts, backoff: { ...taken, mostMs: Math.min(taken.mostMs, DAY) } }
}

const ONCE: Retry = { attempts: 1, backoff: takeBackoff(undefined) }

export function checkEffectOptions({ retry, ifUnknown, redact, input: _input, ...unknown }: EffectOptions): void {
  checkKnown(unknown, 'an effect')
  checkFlag('redact', redact)
  if (!['retry', 'ask', undefined].includes(ifUnknown)) throw invalidOption('ifUnknown', "'retry' or 'ask'", ifUnknown)
  takeRetry(retry)
}

const isNested = (thrown: unknown): boolean => thrown instanceof InkError && thrown.code === 'EFFECT_NESTED'

const isFinal = (thrown: unknown): boolean => member(thrown, 'retryable') === false

export async function runEffect(
  open: RunWriter,
  asked: Asked,
  before: Entry | undefined,
  work: (context: EffectContext) => unknown,
  { retry: asks, ifUnknown, redact }: EffectOptions,
  signal: AbortSignal,
  declared?: DeclaredInput,
): Promise<Entry> {
  const input = declared && (await declared.record())
  const retry = takeRetry(asks)
  if (before?.started) return resolved(open, asked, signal)
  if (before?.retried) await rest(open, asked, before.retried.until, signal)
  for (let attempt = (before?.retried?.attempt ?? 0) + 1; ; attempt++) {
    // The run is not parked until the result is on the tape. Otherwise the work would be repeated.
    const end = open.parking.hold()
    let done: Tried
    try {
      done = await tryOnce(open, asked, work, { ifUnknown, redact, attempt, retry, signal, input })
    } finally {
      end()
    }
    if ('entry' in done) return done.entry
    await rest(open, asked, done.until, signal)
  }
}

interface Attempt {
  readonly ifUnknown: EffectOptions['ifUnknown'] | undefined
  readonly redact: boolean | undefined
  readonly input: RecordedInput | undefined
  readonly attempt: number
  readonly retry: Retry
  readonly signal: AbortSignal
}

/** The outcome of an attempt, or the time of the next one. */
type Tried = { readonly entry: Entry } | { readonly until: number }

async function tryOnce(
  open: RunWriter,
  asked: Asked,
  work: (context: EffectContext) => unknown,
  { attempt, retry, signal, ifUnknown, redact, input }: Attempt,
): Promise<Tried> {
  // A closed session begins no new effect. An effect that has begun is still recorded.
  if (!isSeenOpen(open.scope, open.row.session)) await openGuard(open.scope, open.row.session)
  // The work is not called if the run is lost, or the branch lost a race.
  if (signal.aborted) throw signal.reason
  if (asked.branch !== '') await checkMayGoOn(open, asked)
  if (ifUnknown === 'ask')
    await open.record({ type: 'effect.started', data: { ...factsOf(open, asked), attempt, ...(input && { input }) }, whole: true })
  const startedAt = open.scope.engine.environment.clock.now()
  let thrown: { readonly error: unknown } | undefined
  let result: unknown
  let streamed: EffectStream | undefined
  const stream = (text: string) => {
    streamed ??= new EffectStream(open, asked, attempt)
    streamed.write(text)
  }
  try {
    result = await work({
      // The key is computed on demand, because many effects do not use it.
      get key() {
        return open.keyOf(asked)
      },
      attempt,
      signal,
      stream,
    })
  } catch (error) {
    thrown = { error }
  }
  if (streamed) await streamed.end()
  // A process that has lost the run, and a branch that has lost a race, record nothing more.
  if (signal.aborted) throw signal.reason
  if (asked.branch !== '') await checkMayGoOn(open, asked)
  // A child that could not be written because the store was away is not an outcome.
  if (thrown && asked.kind === 'start' && isPassing(thrown.error)) throw thrown.error
  // A mistake in the program is thrown and not recorded, so that the corrected program can go on.
  if (thrown && isNested(thrown.error)) throw thrown.error
  if (!thrown) return { entry: await settle(open, asked, { result }, { startedAt, attempt, input, whole: redact === false }) }
  if (isFinal(thrown.error) || attempt >= retry.attempts)
    return { entry: await settle(open, asked, { error: thrown.error }, { startedAt, attempt, input }) }
  const until = (await storeTime(open)) + restMs(retry.backoff, attempt)
  const error = errorData(open.scope, thrown.error)
  await open.record({
    type: 'effect.retried',
    data: { ...factsOf(open, asked), attempt, startedAt, ...(input && { input }), error, until },
    whole: true,
  })
  return { until }
}

async function checkMayGoOn(open: RunWriter, { branch, epoch }: Asked): Promise<void> {
  if (!(await open.raceAppends.mayGoOn(placeOf(branch, epoch)))) throw refuse('ABORTED', {})
}

const factsOf = (open: RunWriter, asked: Asked) => ({
  ...slotOf(asked),
  ...(asked.kind !== 'effect' && { kind: asked.kind }),
  wave: open.received,
})

export type Settled = { readonly result: unknown } | { readonly error: unknown }

interface Settling {
  /** When the work began, by the clock of this node. */
  readonly startedAt: number
  readonly attempt?: number
  readonly input?: RecordedInput | undefined
  /** Stores the result without masking secrets. */
  readonly whole?: boolean
  /** Started with `begin`. */
  readonly begun?: boolean
}

/** Records the outcome on the tape before the program sees it. */
export async function settle(open: RunWriter, asked: Asked, settled: Settled, settling: Settling): Promise<Entry> {
  const { startedAt, attempt = 1, input, whole = false, begun = false } = ownMembers(settling)
  const { clock } = open.scope.engine.environment
  const at = clock.now()
  const time = new WriteTime(clock)
  const facts = { ...factsOf(open, asked), attempt, startedAt, ...(input && { input }) }
  const about = { ...open.about, of: `the effect '${asked.name}'` }
  let told: { readonly error: ErrorData } | { readonly value: Stored }
  if ('error' in settled) told = { error: errorData(open.scope, settled.error) }
  else {
    try {
      const stored = store(open.scope, settled.result, about, whole, time)
      told = { value: stored instanceof Promise ? await stored : stored }
    } catch (error) {
      // An outcome that cannot be recorded will be repeated by replay. The program must not go on with it, because replay could not follow.
      if (error instanceof InkError && error.kind === 'invalid') open.end(error)
      throw error
    }
  }
  const data = 'error' in told ? { ...facts, error: told.error } : { ...facts, result: told.value }
  const write = () => open.record({ type: 'effect.settled', data, at, whole: true }, true, time)
  const { seq } = await (begun ? open.begun.settles(asked, write) : write())
  return { ...asked, seq, at, done: true, attempts: attempt, ...told }
}

/** The outcome is unknown: the run waits until a person says how the effect ended. */
async function resolved(open: RunWriter, asked: Asked, leaving: AbortSignal): Promise<Entry> {
  const question: Asked = { ...asked, kind: 'unknown' }
  const key = entryKey(asked)
  let answer: Entry | undefined
  await waitFor(
    open,
    question,
    undefined,
    {
      kind: 'unknown',
      check: async () => {
        answer = await open.tape.look(key)
        return answer?.done ? { outcome: { resolved: true }, over: true } : undefined
      },
    },
    leaving,
  )
  return answer as Entry
}

/** Waits between two attempts. */
async function rest(open: RunWriter, { branch }: Asked, until: number, leaving: AbortSignal): Promise<void> {
  const waiting = open.parking.waits(branch, until)
  const bell = new Bell(open.scope, [open.signal, leaving])
  try {
    for (;;) {
      bell.reset()
      if (await open.parking.isParked()) return never()
      open.checkLive()
      // The branch lost a race, so there is no retry.
      if (leaving.aborted) return never()
      const now = await storeTime(open)
      if (now >= until) return
      // The retry waits for time only.
      waiting.seen = Number.MAX_SAFE_INTEGER
      if (await open.parking.consider(now)) return never()
      await nap(open, bell, until - now)
    }
  } finally {
    waiting.end()
    bell.close()
  }
}

export function effectError(name: string, { run }: { readonly run: unknown }, error: ErrorData, attempts: number): InkError {
  return refuse('EFFECT_FAILED', { effect: name, run, attempts, reason: error.message, error: briefError(error) }, errorOf(error))
}
