// Changes jobs: sets, pauses, resumes, runs, backfills and deletes them.

import { InkError, type Store } from '../../index.ts'
import type { JobRow } from '../../model/job.ts'
import { CliError, EXIT, type Exit, usage } from '../exit.ts'
import { one } from '../format.ts'
import { changeStore, type WhoOptions } from '../store.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { jsonLine } from '../text.ts'
import { durationWord, given, jsonWord, namedWords, reasonWord, timeWord } from '../words.ts'
import { nextText, scheduleText } from '../work/job-text.ts'
import { knownJob } from './cron.ts'
import { userQueue } from './queue.ts'

export interface SetWords extends WhoOptions {
  readonly cron?: string
  readonly zone?: string
  readonly every?: string
  readonly from?: string
  readonly anchor?: string
  readonly at?: string
  readonly queue?: string
  readonly payload?: string
  readonly overlap?: string
  readonly missed?: string
  readonly catchUp?: string
  readonly jitter?: string
  readonly pauseAfter?: number
  readonly priority?: number
  readonly group?: string
  readonly attempts?: number
  readonly backoff?: string
}

/** Rewords the error of a schedule for the command line. */
function inWords(error: unknown): never {
  if (!(error instanceof InkError) || error.code !== 'SCHEDULE_INVALID') throw error
  const todo = "Give --cron '0 9 * * 1-5' and --zone, --every 15m, or --at 2030-01-01T09:00:00Z"
  throw new CliError(error.code, EXIT.usage, `Invalid schedule: ${error.details.why}. Nothing was written. ${todo}.`, error.details)
}

type JobOptions = Parameters<Store['cron']['set']>[1]

export function setJob(t: Terminal, words: readonly string[], options: SetWords): Promise<Exit> {
  const { url, name } = namedJob(words)
  const asked = jobOptions(options)
  return changeStore(url, options, async (store) => {
    const before = await store.cron.get(name)
    const job = await store.cron.set(name, asked).catch(inWords)
    const changed = before?.changedAt !== job.changedAt
    if (t.json) t.out(jsonLine({ job, changed }))
    else if (changed) t.out(verdict(t, 'ok', `${job.name} is scheduled ${scheduleText(job.schedule)}, next ${nextText(job, Date.now())}`))
    else t.out(verdict(t, 'ok', `${job.name} is unchanged${job.state === 'paused' ? ' and paused' : ''}; nothing was written`))
  })
}

function jobOptions(options: SetWords): JobOptions {
  const { queue, payload, catchUp, jitter, every, backoff, pauseAfter: pauseOnFailure, ...rest } = options
  if (queue === undefined) throw usage('Missing --queue: pass the queue that each occurrence is offered to.')
  const { cron, zone, from, anchor, at, overlap, missed, priority, group, attempts } = rest
  const said = given({
    ...{ cron, zone, overlap, missed, priority, group, attempts, pauseOnFailure },
    anchor: anchor === undefined ? undefined : timeWord(anchor, '--anchor'),
    at: at === undefined ? undefined : timeWord(at, '--at'),
    from: from as JobOptions['from'],
    every: every === undefined ? undefined : durationWord(every),
    catchUp: catchUp === undefined ? undefined : durationWord(catchUp),
    jitter: jitter === undefined ? undefined : durationWord(jitter),
    backoff: backoff === undefined ? undefined : durationWord(backoff),
  }) as Omit<JobOptions, 'queue'>
  return { ...said, queue: userQueue(queue), ...(payload !== undefined && { payload: jsonWord(payload, '--payload') }) }
}

export function pauseJob(t: Terminal, words: readonly string[], options: WhoOptions & { readonly reason?: string }): Promise<Exit> {
  const reason = reasonWord(options.reason)
  return turn(t, words, options, 'paused', async (store, job) => store.cron.pause(job.name, { reason }))
}

export const resumeJob = (t: Terminal, words: readonly string[], options: WhoOptions): Promise<Exit> =>
  turn(t, words, options, 'active', async (store, job) => store.cron.resume(job.name))

function turn(
  t: Terminal,
  words: readonly string[],
  options: WhoOptions,
  wanted: JobRow['state'],
  work: (store: Store, job: JobRow) => Promise<JobRow>,
): Promise<Exit> {
  return change(words, options, async (store, before) => {
    const job = before.state === 'over' ? before : await work(store, before)
    const changed = before.state !== job.state
    if (t.json) t.out(jsonLine({ job: job.name, state: job.state, changed, ...given({ next: job.next }) }))
    else if (job.state !== wanted)
      t.out(verdict(t, 'warn', `${job.name} is ${job.state} and has no further occurrences; nothing was written`))
    else if (!changed) t.out(verdict(t, 'ok', `${job.name} was already ${wanted}; nothing was written`))
    else if (wanted === 'paused') t.out(verdict(t, 'ok', `${job.name} is paused; a running occurrence finishes`))
    else t.out(verdict(t, 'ok', `${job.name} is active, next ${nextText(job, Date.now())}`))
  })
}

export function runJob(t: Terminal, words: readonly string[], options: WhoOptions): Promise<Exit> {
  return change(words, options, async (store, job) => {
    const occurrence = await store.cron.run(job.name)
    if (t.json) t.out(jsonLine({ job: job.name, queue: job.queue, occurrence }))
    else t.out(verdict(t, 'ok', `one more occurrence of ${job.name} is in queue ${job.queue}; a worker takes it up`))
  })
}

export interface BackfillWords extends WhoOptions {
  readonly from?: string
  readonly to?: string
}

export function backfillJob(t: Terminal, words: readonly string[], options: BackfillWords): Promise<Exit> {
  if (options.from === undefined || options.to === undefined) throw usage('Missing --from or --to: both ends of the period are needed.')
  const now = Date.now()
  const [from, to] = [timeWord(options.from, '--from', now), timeWord(options.to, '--to', now)]
  return change(words, options, async (store, job) => {
    const { offered, known } = await store.cron.backfill(job.name, { from, to })
    const before = known > 0 ? `; ${one(known, 'occurrence')} already offered` : ''
    if (t.json) t.out(jsonLine({ job: job.name, queue: job.queue, offered, known }))
    else if (offered === 0) t.out(verdict(t, 'ok', `no occurrence was left to offer${before}; nothing was written`))
    else t.out(verdict(t, 'ok', `${one(offered, 'occurrence')} of ${job.name} offered to queue ${job.queue}${before}`))
  })
}

export function deleteJob(t: Terminal, words: readonly string[], options: WhoOptions): Promise<Exit> {
  return change(words, options, async (store, job) => {
    await store.cron.delete(job.name)
    if (t.json) t.out(jsonLine({ job: job.name, deleted: true }))
    else t.out(verdict(t, 'ok', `${job.name} is deleted; a running occurrence finishes, and the journal keeps the history`))
  })
}

function namedJob(words: readonly string[]): { readonly url: string | undefined; readonly name: string } {
  const { url, names } = namedWords(words, { job: 'inkfast cron' })
  return { url, name: names[0] as string }
}

function change(words: readonly string[], who: WhoOptions, work: (store: Store, job: JobRow) => Promise<void>): Promise<Exit> {
  const { url, name } = namedJob(words)
  return changeStore(url, who, async (store) => work(store, await knownJob(store, name)))
}
