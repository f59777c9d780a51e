// How a job follows its schedule: overlap, missed occurrences, jitter. The words of other schedulers are accepted.

import { refuse } from '../../../model/errors.ts'
import type { JobPolicy, Missed, Overlap } from '../../../model/job.ts'
import { limits } from '../../../model/limits.ts'
import { invalidOption, optionsOf } from '../../../model/options.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'

export interface PolicyOptions {
  /**
   * When an occurrence is due while the one before it still runs: leave it out (`forbid`, the default), end the one that runs
   * (`replace`), keep one waiting (`queueOne`), or start it all the same (`allow`). Temporal's words are accepted.
   */
  readonly overlap?: string
  /**
   * The policy for occurrences that came due while no node was running: leave them out (`skip`), start one for all (`once`, the default),
   * or start each one within `catchUp` (`all`). Quartz's words are accepted.
   */
  readonly missed?: string
  /** How late a missed occurrence may still start. The default is one day for `all` and no limit for `once`. */
  readonly catchUp?: Duration
  /** The longest random delay of an occurrence after its time. */
  readonly jitter?: Duration
}

export function takePolicy(options: PolicyOptions): JobPolicy {
  const given = optionsOf(options, 'policy')
  const overlap = takeWord(given.overlap, 'overlap', OVERLAPS, 'forbid')
  const missed = takeWord(given.missed, 'missed', MISSED, 'once')
  const jitter = given.jitter === undefined ? 0 : milliseconds(given.jitter)
  if (jitter > limits.jitterMs) throw invalidOption('jitter', `at most ${limits.jitterMs} ms`, given.jitter)
  if (missed === 'skip' && given.catchUp !== undefined) throw bad('catchUp', "it has no effect with missed: 'skip'")
  const catchUp = given.catchUp === undefined ? (missed === 'all' ? limits.catchUpMs : undefined) : milliseconds(given.catchUp)
  if (catchUp !== undefined && catchUp > limits.everyMostMs)
    throw invalidOption('catchUp', `at most ${limits.everyMostMs} ms`, given.catchUp)
  return { overlap, missed, jitter, ...(catchUp !== undefined && { catchUp }) }
}

const OVERLAPS: Readonly<Record<string, Overlap>> = {
  forbid: 'forbid',
  skip: 'forbid',
  replace: 'replace',
  cancelother: 'replace',
  terminateother: 'replace',
  queueone: 'queueOne',
  bufferone: 'queueOne',
  allow: 'allow',
  allowall: 'allow',
}

const MISSED: Readonly<Record<string, Missed>> = {
  skip: 'skip',
  donothing: 'skip',
  once: 'once',
  fireoncenow: 'once',
  firenow: 'once',
  all: 'all',
  ignoremisfires: 'all',
}

/** Ignores case and joints: QueueOne, queue-one and QUEUE_ONE are one word. */
function takeWord<Word extends string>(given: unknown, option: string, words: Readonly<Record<string, Word>>, usual: Word): Word {
  if (given === undefined) return usual
  const plain = typeof given === 'string' ? given.toLowerCase().replace(/[\s_-]/g, '') : ''
  const word = Object.hasOwn(words, plain) ? words[plain] : undefined
  if (word) return word
  // A queue of any length is refused: a job slower than its schedule would silently fall behind.
  if (option === 'overlap' && plain === 'bufferall')
    throw bad(option, "buffering every occurrence could grow without bound; use 'queueOne', or 'allow' with a queue of concurrency 1")
  const known = [...new Set(Object.values(words))].map((each) => `'${each}'`).join(', ')
  throw invalidOption(option, `one of ${known}`, given)
}

const bad = (option: string, why: string) => refuse('OPTION_INVALID', { option, why })
