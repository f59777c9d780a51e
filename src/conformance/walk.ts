// A random walk: gives the same commits, valid and invalid, to a backend and to the oracle, and compares everything that can be read after
// each step. A seed is a walk; a mismatch names the seed and the step.

import { memoryBackend } from '../backends/memory/backend.ts'
import { canonical } from '../model/canonical.ts'
import { InkError } from '../model/errors.ts'
import type { TenantId } from '../model/ids.ts'
import { tableNames } from '../model/tables.ts'
import type { Backend } from '../ports/backend.ts'
import type { OpenBackend } from './case.ts'
import { type Chance, chance } from './chance.ts'
import { sha256 } from './material.ts'
import { eventLine, firstDifference, outcomeLine, picture, readAll, rowLine } from './picture.ts'
import { pickReads, type Reads, type Step, stepMaker, TENANTS, tell } from './steps.ts'

export interface WalkOptions {
  readonly seed: number
  readonly steps: number
  readonly open: OpenBackend
}

export interface Walk {
  /** Counts of the outcomes, so that a walk without effect is noticed. */
  readonly saved: number
  readonly repeated: number
  readonly refused: number
  readonly events: number
}

const START = 1_700_000_000_000

export async function randomWalk({ seed, steps, open }: WalkOptions): Promise<Walk> {
  const random = chance(seed)
  let time = START
  const now = (): number => time
  const oracle = memoryBackend({ clock: { now }, digest: { sha256 }, entropy: { bytes: (count) => random.bytes(count) } })
  const opened = await open({ now })
  const withTime = !opened.ownClock
  const count = { saved: 0, repeated: 0, refused: 0 }
  const nextStep = stepMaker(random, oracle, { times: withTime ? now : undefined })
  const pair: Pair = { oracle, backend: opened.backend, withTime }
  try {
    for (let at = 1; at <= steps; at++) {
      // Store time advances in leaps, and sometimes steps back a little. A backend with a clock of its own cannot follow it back: a lease of
      // no time at all would be held again, but only in the oracle.
      const leap = random.int(5000) - (random.percent(10) ? 4000 : 0)
      time += withTime ? leap : Math.max(leap, 0)
      const step = await nextStep(at)
      const difference = await takeStep(pair, step, count)
        .then(async (parted) => parted ?? (await compareAll(pair, random)))
        .catch((error: unknown) => `- an answer\n+ ${String(error)}`)
      if (difference)
        throw new Error(
          `the walk with seed ${seed} parts from the oracle at step ${at} (${tell(step)}), - oracle, + ${opened.backend.name}:\n${difference}`,
        )
    }
    let events = 0
    for (const tenant of TENANTS) events += (await oracle.journal.head(tenant)).seq
    return { ...count, events }
  } finally {
    await opened.backend.close()
    await opened.dispose?.()
  }
}

interface Pair {
  readonly oracle: Backend
  readonly backend: Backend
  readonly withTime: boolean
}

interface Count {
  saved: number
  repeated: number
  refused: number
}

async function takeStep({ oracle, backend, withTime }: Pair, step: Step, count: Count): Promise<string | undefined> {
  switch (step.kind) {
    case 'commit': {
      const expected = await oracle.commit(step.batch)
      const found = await backend.commit(step.batch)
      for (const outcome of expected) count[!outcome.ok ? 'refused' : outcome.repeated ? 'repeated' : 'saved']++
      return firstDifference(
        expected.map((outcome) => outcomeLine(outcome, withTime)),
        found.map((outcome) => outcomeLine(outcome, withTime)),
      )
    }
    case 'sweep': {
      const [expected, found] = [await oracle.upkeep.sweepReceipts(step.before), await backend.upkeep.sweepReceipts(step.before)]
      return firstDifference([`swept ${expected}`], [`swept ${found}`])
    }
    case 'renew': {
      const lines = async (side: Backend): Promise<readonly string[]> => {
        const { now, leases } = await side.leases.renew(step.tenant, step.held, step.ms, 'work')
        return leases.map(({ id, fence, until }) => `${id} ${fence} ${withTime ? until : until > now}`)
      }
      return firstDifference(await lines(oracle).catch(closed), await lines(backend).catch(closed))
    }
    case 'adopt': {
      const answers: string[] = []
      for (const side of [oracle, backend]) {
        const scratch = await side.upkeep.scratch()
        for (const { seq, changes } of step.folded) await scratch.apply(seq, changes)
        answers.push(`adopted ${await side.upkeep.adopt(step.tenant, scratch, step.head)}`)
        await scratch.close()
      }
      return firstDifference(answers.slice(0, 1), answers.slice(1))
    }
  }
}

/** Compares every table, the counts, and a random page, list and queue. */
async function compareAll({ oracle, backend, withTime }: Pair, random: Chance): Promise<string | undefined> {
  const whole = firstDifference(await picture(oracle, TENANTS), await picture(backend, TENANTS))
  if (whole) return whole
  const tenant = random.pick(TENANTS)
  const { page, list, queue } = pickReads(random)
  const most = random.int(TENANTS.length + 1)
  const limit = random.pick([1, 2, 3, 100])
  const readyLines = async (side: Backend, of: TenantId): Promise<readonly string[]> => {
    const { now, rows, next } = await side.queries.ready(of, queue, limit)
    return [...rows.map(rowLine), `next ${next}`, ...(withTime ? [`now ${now}`] : [])]
  }
  const reads: Readonly<Record<string, (side: Backend) => Promise<readonly string[]>>> = {
    [`usage of ${tenant}`]: async (side) => (await side.queries.usageByType(tenant)).map(canonical),
    [`${most} that are due in ${JSON.stringify(queue)}`]: async (side) => (await side.queries.due(queue, most)).map(canonical),
    [`${limit} that are ready in ${JSON.stringify(queue)}`]: async (side) => {
      const lines: string[] = []
      for (const each of TENANTS) lines.push(each, ...(await readyLines(side, each).catch(closed)))
      return lines
    },
    [`backlog of ${tenant}`]: async (side) => (await side.queries.backlog(tenant)).map(canonical),
    'counted rows': async (side) => {
      const { rows } = await side.upkeep.measure()
      return ['events', ...tableNames].map((table) => `${table} ${rows[table]}`)
    },
    [`page of ${tenant} ${JSON.stringify(page)}`]: async (side) => (await readAll(side.journal, tenant, page)).map(eventLine),
    [`list of ${tenant} ${JSON.stringify(list)}`]: (side) => listAll(side, tenant, list),
  }
  for (const [what, read] of Object.entries(reads)) {
    const difference = firstDifference(await read(oracle).catch(closed), await read(backend).catch(closed))
    if (difference) return `${what}\n${difference}`
  }
  return undefined
}

// The refusal of a closed tenant is an answer too.
function closed(error: unknown): readonly string[] {
  if (error instanceof InkError && error.code === 'TENANT_CLOSED') return [error.message]
  throw error
}

// Cursors differ between backends; the ends of pages do not.
async function listAll(side: Backend, tenant: TenantId, { table, query }: Reads['list']): Promise<readonly string[]> {
  const lines: string[] = []
  let cursor: string | undefined
  do {
    const page = await side.rows.list(tenant, table, { ...query, ...(cursor !== undefined && { cursor }) })
    lines.push(...page.rows.map(rowLine), 'end of page')
    cursor = page.cursor
  } while (cursor !== undefined && lines.length < 1000)
  return lines
}
