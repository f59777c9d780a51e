// Lists and shows jobs: their next times, and the outcomes of past ones.

import type { Store } from '../../index.ts'
import type { JobRow, JobState, OccurrenceRow } from '../../model/job.ts'
import { CliError, EXIT, type Exit } from '../exit.ts'
import { facts } from '../facts.ts'
import { fromNow, one, time } from '../format.ts'
import { storedText, untilText } from '../runs/text.ts'
import { tenantView, withStore } from '../store.ts'
import { printList, printTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'
import { given, namedWords, onlyStore } from '../words.ts'
import { isOverdue, jobStyle, lastText, nextText, outcomeStyle, scheduleText, wallClock, whyText } from '../work/job-text.ts'
import { attemptsText, duration, shortTime } from '../work/text.ts'

export interface JobsOptions {
  readonly state?: string
  readonly last?: number
  readonly cursor?: string
  readonly tenant?: string
}

const LAST_BY_DEFAULT = 20

export function listJobs(t: Terminal, words: readonly string[], options: JobsOptions): Promise<Exit> {
  const url = onlyStore(words)
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const { state, last = LAST_BY_DEFAULT, cursor } = options
    const page = await store.cron.list({ last, ...given({ state: state as JobState | undefined, cursor }) })
    const items: (JobRow & { readonly last?: OccurrenceRow })[] = []
    for (const job of page.items) {
      const [latest] = (await store.cron.occurrences(job.name, { last: 1 })).items
      items.push({ ...job, ...(latest && { last: latest }) })
    }
    if (t.json) {
      t.out(jsonLine({ ...page, items }))
      return EXIT.fine
    }
    const now = Date.now()
    if (items.length === 0) t.note(`No job ${state === undefined ? 'is set' : `is ${state}`} in tenant ${store.tenantId}.`)
    else
      printList(
        t,
        [
          { title: 'job', most: 28, style: 'bold' },
          { title: 'schedule', most: 40 },
          { title: 'state', style: jobStyle },
          { title: 'next (UTC)' },
          { title: 'last' },
        ],
        items.map((job) => {
          const paused = job.state === 'paused' && job.reason ? `paused: ${job.reason}; ` : ''
          return [job.name, scheduleText(job.schedule), job.state, nextText(job, now), `${paused}${lastText(job.last, now)}`]
        }),
      )
    if (items.some((job) => isOverdue(job, now))) t.note(NOBODY_LOOKS)
    if (page.cursor !== undefined) t.note(`More: add --cursor '${harmless(page.cursor)}'`)
    return EXIT.fine
  })
}

const NOBODY_LOOKS = 'An occurrence is overdue: no node is running. Start a program that calls queue.work or store.work.'

const TIMES_SHOWN = 5
const OCCURRENCES_SHOWN = 10

export function showJob(t: Terminal, words: readonly string[], options: JobsOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { job: 'inkfast cron' })
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const job = await knownJob(store, names[0] as string)
    const next = await store.cron.preview(job.name, TIMES_SHOWN)
    const occurrences = await store.cron.occurrences(job.name, {
      last: options.last ?? OCCURRENCES_SHOWN,
      ...given({ cursor: options.cursor }),
    })
    if (t.json) {
      t.out(jsonLine({ job, next, occurrences }))
      return EXIT.fine
    }
    const now = Date.now()
    tell(t, job, now)
    printTimes(t, job, next, now)
    printOccurrences(t, occurrences.items, now)
    if (isOverdue(job, now)) t.note(NOBODY_LOOKS)
    if (occurrences.cursor !== undefined) t.note(`Earlier ones: add --cursor '${harmless(occurrences.cursor)}'`)
    return EXIT.fine
  })
}

function tell(t: Terminal, job: JobRow, now: number): void {
  const { policy, offer } = job
  const { line, json } = facts(t)
  line('job', job.name)
  line('id', job.id)
  line('state', job.state, jobStyle(job.state))
  line('why', job.reason)
  line('schedule', scheduleText(job.schedule))
  line('overlap', policy.overlap)
  line('missed', `${policy.missed}${policy.catchUp === undefined ? '' : `, up to ${duration(policy.catchUp)} late`}`)
  line('jitter', policy.jitter > 0 ? `up to ${duration(policy.jitter)}` : undefined)
  line('queue', job.queue)
  line('priority', offer.priority ? String(offer.priority) : undefined)
  line('group', offer.group)
  line('attempts', attemptsText(offer))
  line('failures', failuresText(job))
  line('next', nextText(job, now))
  line('current', job.running && `the one for ${untilText(job.running.due, now)}`)
  line('waiting', job.waiting && `the one for ${untilText(job.waiting.due, now)}, until that has ended`)
  line('set', `${time(job.setAt)} UTC (${fromNow(job.setAt, now)})`)
  if (job.changedAt !== job.setAt) line('changed', `${time(job.changedAt)} UTC (${fromNow(job.changedAt, now)})`)
  if (job.payload?.value === undefined) line('payload', storedText(job.payload))
  else json('payload', job.payload.value)
}

function failuresText({ failures, pauseAfter }: JobRow): string | undefined {
  if (pauseAfter !== undefined) return `${failures} in a row; paused by itself after ${pauseAfter}`
  return failures > 0 ? `${failures} in a row` : undefined
}

function printTimes(t: Terminal, { schedule, state }: JobRow, times: readonly number[], now: number): void {
  if (times.length === 0) return
  const zone = schedule.kind === 'cron' && schedule.zone !== 'UTC' ? schedule.zone : undefined
  const wall = zone === undefined ? () => '' : wallClock(zone)
  t.out(`\n${t.paint('bold', state === 'paused' ? 'occurrences after a resume' : `next ${one(times.length, 'occurrence')}`)}`)
  printTable(
    t,
    [{ title: 'time (UTC)' }, { title: '', style: 'dim' }, { title: zone ?? '', optional: true }],
    times.map((ms) => [time(ms), fromNow(ms, now), wall(ms)]),
  )
}

function printOccurrences(t: Terminal, occurrences: readonly OccurrenceRow[], now: number): void {
  if (occurrences.length === 0) return
  const at = shortTime(t, now)
  t.out(`\n${t.paint('bold', 'last occurrences')}`)
  printTable(
    t,
    [
      { title: 'for (UTC)' },
      { title: 'outcome', style: outcomeStyle },
      { title: 'started', style: 'dim' },
      { title: 'finished', style: 'dim' },
      { title: 'tries', right: true, optional: true },
      { title: 'by', optional: true },
      { title: 'why', optional: true },
    ],
    occurrences.map((row) => [
      at(row.due),
      row.state,
      at(row.startedAt),
      row.startedAt === undefined ? '' : at(row.finishedAt),
      row.attempt > 1 ? String(row.attempt) : '',
      row.cause === 'schedule' ? '' : row.cause,
      whyText(row),
    ]),
  )
}

/** Fails if the job does not exist. */
export async function knownJob(store: Store, name: string): Promise<JobRow> {
  const job = await store.cron.get(name)
  if (job) return job
  throw new CliError(
    'JOB_UNKNOWN',
    EXIT.missing,
    `There is no job ${name} in tenant ${store.tenantId}. See what is there with inkfast cron.`,
    {
      job: name,
      tenant: store.tenantId,
    },
  )
}
