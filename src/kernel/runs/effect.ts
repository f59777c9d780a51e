// An effect is an action outside, recorded once. Its result is on the tape before the program sees it; what is on the tape is not done again.

import { InkError, refuse } from '../../model/errors.ts'
import { checkKnown, invalidOption, optionsOf } from '../../model/options.ts'
import type { ErrorData, Stored } from '../../model/run.ts'
import { type Duration, milliseconds } from '../../model/time.ts'
import { errorData, member, store } from '../json-or-blob.ts'
import { Bell } from '../read.ts'
import { openGuard } from '../session-guard.ts'
import { type Asked, entryKey } from './asked.ts'
import { never } from './parking.ts'
import type { RunWriter } from './run-writer.ts'
import { EffectStream } from './stream.ts'
import type { Entry } from './tape.ts'
import { isPassing } from './transient-error.ts'
import { nap, storeTime, waitFor } from './wait.ts'

export interface EffectContext {
  /** The same for every attempt and after every crash: hand it on as an idempotency key. */
  readonly key: string
  /** From 1. */
  readonly attempt: number
  /** Aborted when the run is lost or cancelled. */
  readonly signal: AbortSignal
  /** Text for whoever watches, a piece at a time: recorded in few entries, and not read by replay. */
  stream(text: string): void
}

export interface RetryOptions {
  /** How often at most, the first time included. */
  readonly attempts?: number
  /** How long before the second attempt; twice as long before each one after that. */
  readonly backoff?: Duration
  readonly factor?: number
  /** The longest wait between two attempts. */
  readonly most?: Duration
}

export interface EffectOptions {
  readonly retry?: RetryOptions
  /** After a crash in the middle: do it again (the default), or hold the run until a person says how it ended. */
  readonly ifUnknown?: 'retry' | 'ask'
  /** `false` keeps the result as it is. */
  readonly redact?: boolean
}

interface Retry {
  readonly attempts: number
  readonly backoff: number
  readonly factor: number
  readonly most: number
}

const DAY = 86_400_000

function takeRetry(given: RetryOptions | undefined): Retry {
  const { attempts = given === undefined ? 1 : 3, backoff = '1s', factor = 2, most = '1h', ...unknown } = optionsOf(given, 'retry')
  checkKnown(unknown, 'retry')
  if (!Number.isSafeInteger(attempts) || attempts < 1) throw invalidOption('retry.attempts', 'an integer ≥ 1', attempts)
  if (typeof factor !== 'number' || !(factor >= 1)) throw invalidOption('retry.factor', 'a number ≥ 1', factor)
  return { attempts, backoff: milliseconds(backoff), factor, most: Math.min(milliseconds(most), DAY) }
}

export function checkEffectOptions({ retry, ifUnknown, redact: _, ...unknown }: EffectOptions): void {
  checkKnown(unknown, 'an effect')
  if (!['retry', 'ask', undefined].includes(ifUnknown)) throw invalidOption('ifUnknown', "'retry' or 'ask'", ifUnknown)
  takeRetry(retry)
}

// Beyond a thousand doublings there is only infinity, and nothing times that is no number.
const delayAfter = ({ backoff, factor, most }: Retry, attempt: number): number =>
  backoff === 0 ? 0 : Math.round(Math.min(most, backoff * factor ** (attempt - 1)))

const isNested = (thrown: unknown): boolean => thrown instanceof InkError && thrown.code === 'EFFECT_NESTED'

const isFinal = (thrown: unknown): boolean => member(thrown, 'retryable') === false

export async function runEffect(
  open: RunWriter,
  asked: Asked,
  before: Entry | undefined,
  work: (context: EffectContext) => unknown,
  options: EffectOptions,
  signal: AbortSignal,
): Promise<Entry> {
  const retry = takeRetry(options.retry)
  if (before?.started) return resolved(open, asked, signal)
  if (before?.retried) await rest(open, asked, before.retried.until, signal)
  for (let attempt = (before?.retried?.attempt ?? 0) + 1; ; attempt++) {
    // Until it is on the tape the run stays here: whoever gave it back in between would have the work done again.
    const done = await open.parking.busily(() => tryOnce(open, asked, work, { ...options, attempt, retry, signal }))
    if ('entry' in done) return done.entry
    await rest(open, asked, done.until, signal)
  }
}

interface Attempt extends Omit<EffectOptions, 'retry'> {
  readonly attempt: number
  readonly retry: Retry
  readonly signal: AbortSignal
}

/** What it came to, or when it is tried again. */
async function tryOnce(
  open: RunWriter,
  asked: Asked,
  work: (context: EffectContext) => unknown,
  { attempt, retry, signal, ifUnknown, redact }: Attempt,
): Promise<{ readonly entry: Entry } | { readonly until: number }> {
  // Nothing new begins in a session that was closed; what has begun is still recorded.
  await openGuard(open.scope, open.row.session)
  // Nothing is called for a run that is lost, or in a branch that lost a race.
  if (signal.aborted) throw signal.reason
  if (ifUnknown === 'ask') await open.record({ type: 'effect.started', data: { ...factsOf(open, asked), attempt } })
  let thrown: { readonly error: unknown } | undefined
  let result: unknown
  let streamed: EffectStream | undefined
  const stream = (text: string) => {
    streamed ??= new EffectStream(open, asked, attempt)
    streamed.write(text)
  }
  try {
    result = await work({
      // Made when it is asked for: many have no use for it.
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
  await streamed?.end()
  // Whoever has lost the run has nothing to say about it any more.
  if (signal.aborted) throw signal.reason
  // A child that could not be written down just now is no outcome.
  if (thrown && asked.kind === 'start' && isPassing(thrown.error)) throw thrown.error
  // A mistake in the program: it is told and not recorded, so that the corrected program can go on.
  if (thrown && isNested(thrown.error)) throw thrown.error
  if (!thrown) return { entry: await settle(open, asked, { result }, { attempt, whole: redact === false }) }
  if (isFinal(thrown.error) || attempt >= retry.attempts) return { entry: await settle(open, asked, { error: thrown.error }, { attempt }) }
  const until = (await storeTime(open)) + delayAfter(retry, attempt)
  const error = errorData(open.scope, thrown.error)
  await open.record({ type: 'effect.retried', data: { ...factsOf(open, asked), attempt, error, until }, whole: true })
  return { until }
}

const factsOf = (open: RunWriter, { kind, branch, name, ordinal }: Asked) => ({
  branch,
  name,
  ordinal,
  ...(kind !== 'effect' && { kind }),
  wave: open.received,
})

export type Settled = { readonly result: unknown } | { readonly error: unknown }

/** On the tape before anybody sees it. */
export async function settle(
  open: RunWriter,
  asked: Asked,
  settled: Settled,
  { attempt = 1, whole = false, begun = false }: { readonly attempt?: number; readonly whole?: boolean; readonly begun?: boolean } = {},
): Promise<Entry> {
  const { clock } = open.scope.engine.environment
  const at = clock.now()
  const facts = { ...factsOf(open, asked), attempt }
  const about = { ...open.about, of: `the effect '${asked.name}'` }
  const told =
    'error' in settled ? { error: errorData(open.scope, settled.error) } : { value: await kept(open, settled.result, about, whole) }
  const data = 'error' in told ? { ...facts, error: told.error } : { ...facts, result: told.value }
  const write = () => open.record({ type: 'effect.settled', data, at, whole: true })
  const { seq } = await (begun ? open.begun.settles(asked, write) : write())
  return { ...asked, seq, at, done: true, attempts: attempt, ...told }
}

/** What was done and cannot be recorded is done again by replay: a program that went on from here would take a way that replay cannot. */
async function kept(open: RunWriter, result: unknown, about: Readonly<Record<string, unknown>>, whole: boolean): Promise<Stored> {
  try {
    return await store(open.scope, result, about, whole)
  } catch (error) {
    if (error instanceof InkError && error.kind === 'invalid') open.end(error)
    throw error
  }
}

/** Nobody knows how it ended: a person says so, and until then the run waits. */
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

/** Between two attempts. */
async function rest(open: RunWriter, { branch }: Asked, until: number, leaving: AbortSignal): Promise<void> {
  const waiting = open.parking.waits(branch, until)
  const bell = new Bell(open.scope, [open.signal, leaving])
  try {
    for (;;) {
      bell.reset()
      if (await open.parking.isParked()) return never()
      open.checkLive()
      // Its branch lost a race: it is not tried again.
      if (leaving.aborted) return never()
      const now = await storeTime(open)
      if (now >= until) return
      // It waits for nothing but time.
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
  return refuse('EFFECT_FAILED', { effect: name, run, attempts, reason: error.message, error })
}
