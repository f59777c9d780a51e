// A simulated year of cron, or a quarter of it in a short run: jobs of every policy in six zones, on three nodes with wrong clocks that crash
// and are replaced, while time jumps and at times no node runs. An oracle walks through the same time. Nothing happens twice and nothing is
// lost. Four seeds have every policy in every zone; YEAR_FIGURES=1 prints what happened.

import { describe, expect, test } from 'vitest'
import type { Backend } from '../../src/ports/backend.ts'
import { expectSound } from '../support/engines.ts'
import { LONG, rounds, SEED, seeds } from '../support/rounds.ts'
import { judge, type Verdict } from './cron-year-audit.ts'
import { DAY, type PlannedJob, type PlanOptions, planJobs, withoutSummer } from './cron-year-jobs.ts'
import { type Lived, live, type YearOptions } from './cron-year-simulation.ts'
import { databasePlace, filePlace, memoryPlace, type Node, type Place } from './cron-year-stores.ts'

const { YEAR_FIGURES } = process.env

interface Span {
  readonly from: number
  readonly until: number
}

const span = (from: string, until: string): Span => ({ from: Date.parse(`${from}T00:00:17.123Z`), until: Date.parse(`${until}T00:00:00Z`) })
// The clocks of all six zones are moved in this quarter.
const YEAR = LONG ? span('2025-01-01', '2026-01-01') : span('2025-02-01', '2025-05-01')
const PART_OF_YEAR = LONG ? 1 : 1 / 5
const SPRING = span('2025-02-20', '2025-04-08')
// Those of Paris, Troll, Nuuk and Lord Howe.
const AROUND_THE_MOVE = span('2025-03-27', '2025-04-08')
const FEW_WEEKS = span('2025-03-20', '2025-04-10')

/** Times are looked for beyond the end: it is seldom met to the minute. */
const plan = (seed: number, { from, until }: Span, share: number, more: Partial<PlanOptions> = {}) =>
  planJobs({ seed, from, until: until + 6 * DAY, share, ...more })

interface Told extends Verdict {
  readonly jobs: readonly PlannedJob[]
  readonly lived: Lived
}

async function tell(seed: number, when: Span, place: Place, share: number, more: Partial<YearOptions> = {}): Promise<Told> {
  const jobs = plan(seed, when, share)
  const lived = await live({ seed, place, jobs, until: when.until, ...more })
  const verdict = await judge(jobs, lived)
  if (YEAR_FIGURES)
    console.info(JSON.stringify({ seed, jobs: jobs.length, ...verdict.counts, ...lived.figures, commits: lived.diary.commits }))
  return { ...verdict, jobs, lived }
}

async function expectAllRight(seed: number, { complaints, counts, lived }: Told, least: number): Promise<void> {
  expect({ seed, complaints }).toEqual({ seed, complaints: [] })
  expect(counts).toMatchObject({ doubles: 0, losses: 0 })
  expect(counts.due).toBeGreaterThan(least)
  await expectSound(lived.witness.store)
}

/** A year in which nobody died and nothing was missed would prove little. */
function expectTrouble(seed: number, { counts: { started, skipped, missed }, lived: { figures } }: Told): void {
  const { deaths, downtimes, storeJumps, stepsBack, clockJumps, answersLost, lapsed, fencesLost } = figures
  const trouble = { started, skipped, missed, deaths, downtimes, storeJumps, stepsBack, clockJumps, answersLost, lapsed, fencesLost }
  const absent = Object.entries(trouble).filter(([, times]) => times === 0)
  expect({ seed, absent }).toEqual({ seed, absent: [] })
}

describe('each time comes up once, and none is lost', () => {
  test.each(seeds(1, 4))('each time of a year comes up once on three nodes, and none is lost, with seed %i', async (seed) => {
    const told = await tell(seed, YEAR, memoryPlace(YEAR.from), 4)
    expectTrouble(seed, told)
    await expectAllRight(seed, told, 1000 * PART_OF_YEAR)
  })

  test('each time of a year comes up once on three nodes that share a SQLite file', async () => {
    const told = await tell(SEED + 2, YEAR, filePlace(YEAR.from), 12)
    expectTrouble(SEED + 2, told)
    await expectAllRight(SEED + 2, told, 250 * PART_OF_YEAR)
  })

  test('each time of a few weeks comes up once on three nodes that share a PostgreSQL database', async () => {
    const when = LONG ? SPRING : AROUND_THE_MOVE
    const seed = SEED + 5
    await expectAllRight(seed, await tell(seed, when, await databasePlace(when.from), 12), rounds(5, 25))
  })

  test('the same seed makes the same journal of cron jobs', async () => {
    const heads = async () => {
      const { lived } = await tell(5, FEW_WEEKS, memoryPlace(FEW_WEEKS.from), 6)
      return [await lived.witness.store.head(), await lived.witness.store.tenant('acme').head()]
    }
    const told: unknown[] = []
    // Stacks in the journal name the line that called, so both are called from one line.
    for (let life = 0; life < 2; life++) told.push(await heads())
    expect(told[1]).toEqual(told[0])
  })
})

/** Lets everybody write, whatever has changed since it was looked at. */
const unguarded = (backend: Backend): Backend => ({
  ...backend,
  commit: (batch) => backend.commit(batch.map((commit) => ({ ...commit, guards: commit.guards.filter(({ kind }) => kind !== 'row') }))),
})

/** The item by which the scheduler finds a job is gone, and nothing says so. */
async function loseClock({ life: { backend } }: Node): Promise<void> {
  const tenant = 'main' as const
  const { rows } = await backend.rows.list(tenant as never, 'work', { index: 'byDue', equals: ['clock/cron'], from: 0, limit: 1 })
  const [first] = rows
  if (first)
    await backend.commit([{ tenant: tenant as never, guards: [], events: [], changes: [{ kind: 'remove', table: 'work', id: first.id }] }])
}

describe('what goes wrong is seen', () => {
  test('nodes that do not look whether a job has moved on do things twice', async () => {
    const { counts, complaints } = await tell(6, FEW_WEEKS, memoryPlace(FEW_WEEKS.from), 6, { around: unguarded })
    expect(counts.doubles).toBeGreaterThan(0)
    for (const what of ['was opened twice', 'was started twice', 'was claimed by a second one', 'came up as'])
      expect(complaints.some((complaint) => complaint.includes(what))).toBe(true)
  })

  test('an oracle that knows no summer time finds other times', async () => {
    const { jobs, lived, complaints } = await tell(7, FEW_WEEKS, memoryPlace(FEW_WEEKS.from), 6)
    expect(complaints).toEqual([])
    const blind = plan(7, FEW_WEEKS, 6, { walls: withoutSummer })
    expect(blind.map(({ name }) => name)).toEqual(jobs.map(({ name }) => name))
    const { counts } = await judge(blind, lived)
    expect(counts.losses).toBeGreaterThan(0)
  })

  test('a job whose clock item is gone is missed', async () => {
    const { counts } = await tell(8, FEW_WEEKS, memoryPlace(FEW_WEEKS.from), 6, { halfway: loseClock })
    expect(counts.losses).toBeGreaterThan(0)
  })
})
