// Simulates a year of cron: three nodes schedule the jobs and work on their items, while clocks jump, nodes crash and are replaced, and at
// times no node runs.

import { type Claim, InkError } from '../../src/index.ts'
import { Chance } from './cron-year-chance.ts'
import { DAY, HOUR, MINUTE, type PlannedJob, TENANTS } from './cron-year-jobs.ts'
import { type Around, bearNode, Diary, type Node, type Place } from './cron-year-stores.ts'

export interface Figures {
  steps: number
  nodes: number
  deaths: number
  downtimes: number
  storeJumps: number
  stepsBack: number
  clockJumps: number
  answersLost: number
  claims: number
  completed: number
  failed: number
  lapsed: number
  fencesLost: number
  backfills: number
  changes: number
}

export interface Lived {
  readonly diary: Diary
  readonly figures: Figures
  /** What workers have said is done, and the store has taken from them. */
  readonly done: readonly string[]
  /** Until when claims were renewed, by item and fence. */
  readonly renewed: ReadonlyMap<string, number>
  /** Looks at what came of it. */
  readonly witness: Node
  readonly ended: number
}

export interface YearOptions {
  readonly seed: number
  readonly place: Place
  readonly jobs: readonly PlannedJob[]
  readonly until: number
  /** How many nodes at a time. */
  readonly nodes?: number
  /** A backend that is wrong. */
  readonly around?: Around
  /** Once, when half of the time has passed. */
  readonly halfway?: (node: Node) => Promise<void>
}

interface Held {
  readonly node: Node
  readonly claim: Claim
  readonly settleAt: number
  readonly fate: 'complete' | 'fail' | 'release' | 'lapse'
}

export async function live({ seed, place, jobs, until, nodes: count = 3, around, halfway }: YearOptions): Promise<Lived> {
  const chance = new Chance(seed)
  const diary = new Diary(place)
  const figures: Figures = {
    steps: 0,
    nodes: 0,
    deaths: 0,
    downtimes: 0,
    storeJumps: 0,
    stepsBack: 0,
    clockJumps: 0,
    answersLost: 0,
    claims: 0,
    completed: 0,
    failed: 0,
    lapsed: 0,
    fencesLost: 0,
    backfills: 0,
    changes: 0,
  }
  const done: string[] = []
  const renewed = new Map<string, number>()
  let held: Held[] = []
  let nodes: Node[] = []
  await diary.turnPage()

  const bear = async (mortal: boolean): Promise<Node> => {
    const death = { at: chance.between(1, 1500), when: chance.pick(['before', 'after'] as const) }
    const name = `node ${++figures.nodes}`
    return bearNode({ place, diary, name, chance: chance.branch(), ...(mortal && { death }), ...(around && { around }) })
  }
  /** Whatever a node does, it may die of it. */
  const doing = (node: Node, what: () => Promise<void>): Promise<void> => Promise.race([what(), node.life.died])

  const settle = async ({ node, claim, fate }: Held): Promise<void> => {
    if (fate === 'lapse') {
      figures.lapsed++
      return
    }
    try {
      if (fate === 'complete') {
        await claim.complete()
        figures.completed++
        done.push(`${claim.tenant} ${claim.origin?.id}`)
      } else if (fate === 'fail') {
        await claim.fail(new Error('it did not work'))
        figures.failed++
      } else await claim.release({ delay: node.chance.between(0, HOUR) })
    } catch (error) {
      if (!(error instanceof InkError && error.code === 'FENCE_LOST')) throw error
      figures.fencesLost++
    }
  }

  const work = async (node: Node, now: number): Promise<void> => {
    const mine = held.filter((one) => one.node === node && one.settleAt <= now)
    held = held.filter((one) => !mine.includes(one))
    for (const one of mine) {
      jump(node)
      await settle(one)
    }
    for (const tenant of node.chance.shuffled(TENANTS)) {
      for (let left = node.chance.between(0, 12); left > 0; left--) {
        const { fate, leaseMs, holdMs } = fateOf(node.chance)
        const { claim } = await node.store.tenant(tenant).queue('q').tryClaim({ lease: leaseMs })
        if (!claim) break
        figures.claims++
        if (holdMs > leaseMs && fate !== 'lapse') {
          const until = (await place.now()) + holdMs + MINUTE
          await claim.renew(holdMs + MINUTE)
          renewed.set(`${tenant} ${claim.id} ${claim.fence}`, until)
        }
        const one: Held = { node, claim, fate, settleAt: now + holdMs }
        if (holdMs === 0) await settle(one)
        else held.push(one)
      }
    }
  }

  /** The clock of a node is wrong, and not always by as much. */
  const jump = (node: Node): void => {
    if (!node.chance.happens(0.15)) return
    figures.clockJumps++
    node.error = node.chance.pick([0, 1, -1]) * node.chance.between(0, node.chance.pick([2000, HOUR, 90 * DAY]))
  }

  const begin = await bear(false)
  for (const { name, tenant, options } of jobs) await begin.store.tenant(tenant).cron.set(name, options)
  nodes = [begin]
  while (nodes.length < count) nodes.push(await bear(true))

  let next: number | undefined
  let half = halfway
  const middle = (await place.now()) + (until - (await place.now())) / 2
  for (let now = await place.now(); now < until; now = await place.now()) {
    const ms = await wayOn(chance, now, next, figures)
    await place.move(Math.min(ms, Math.max(until - now, 1)))
    await diary.turnPage()
    figures.steps++
    if (half && now > middle) {
      await half(nodes.find(({ life }) => !life.dead) as Node)
      half = undefined
    }
    for (const node of nodes) {
      jump(node)
      if (chance.happens(0.01)) {
        node.deaf = true
        figures.answersLost++
      }
    }
    if (chance.happens(0.002)) chance.pick(nodes).life.kill()
    const there = chance.happens(0.5) ? nodes : nodes.filter(() => chance.happens(0.5))
    const looked = new Map<Node, number | undefined>()
    const meddling = chance.happens(0.04) ? meddle(chance, nodes, jobs, now, figures, doing) : undefined
    await Promise.all([
      meddling,
      ...there.map((node) =>
        doing(node, async () => {
          looked.set(node, (await node.store.cron.tick({ tenants: 'all' })).next)
        }),
      ),
    ])
    const at = await place.now()
    await Promise.all(there.map((node) => doing(node, () => work(node, at))))
    next = [...looked].filter(([{ life }]) => !life.dead).at(0)?.[1]
    const dead = nodes.filter(({ life }) => life.dead)
    figures.deaths += dead.length
    for (const node of dead) await node.bury()
    held = held.filter(({ node }) => !dead.includes(node))
    nodes = nodes.filter((node) => !dead.includes(node))
    while (nodes.length < count) nodes.push(await bear(true))
  }

  // Whoever is left puts the house in order: a last look, and everything that came up comes to its end.
  const witness = await bear(false)
  await diary.turnPage()
  await witness.store.cron.tick({ tenants: 'all' })
  const ended = await place.now()
  for (const one of held.splice(0)) await doing(one.node, () => settle(one))
  for (let idle = 0; idle < 3; ) {
    await diary.turnPage()
    let found = 0
    for (const tenant of TENANTS) {
      const queue = witness.store.tenant(tenant).queue('q')
      for (let claim = await queue.claim(); claim; claim = await queue.claim()) {
        await claim.complete()
        done.push(`${claim.tenant} ${claim.origin?.id}`)
        figures.claims++
        figures.completed++
        found++
      }
    }
    idle = found > 0 ? 0 : idle + 1
    // Longer than any claim.
    if (idle === 1) await place.move(8 * DAY)
  }
  return { diary, figures, done, renewed, witness, ended }
}

/** How far it is to the next step: most often to the next time, now and then far beyond, and a little back. */
function wayOn(chance: Chance, now: number, next: number | undefined, figures: Figures): number {
  const toNext = Math.max(1, (next ?? now + HOUR) - now)
  const way = chance.next()
  if (way < 0.9) return toNext + chance.pick([0, 0, 1, chance.between(0, 20_000), chance.between(25_000, 35_000)])
  if (way < 0.93) {
    figures.storeJumps++
    return toNext + chance.between(0, 4 * HOUR)
  }
  if (way < 0.96) return Math.ceil(toNext / 2)
  if (way < 0.965) {
    figures.downtimes++
    return toNext + chance.between(4 * HOUR, chance.pick([DAY, 5 * DAY]))
  }
  figures.stepsBack++
  return -chance.between(1, chance.pick([1000, MINUTE, HOUR]))
}

function fateOf(chance: Chance): { readonly fate: Held['fate']; readonly leaseMs: number; readonly holdMs: number } {
  const way = chance.next()
  const leaseMs = chance.between(MINUTE, 2 * HOUR)
  if (way < 0.6) return { fate: 'complete', leaseMs, holdMs: 0 }
  if (way < 0.75) return { fate: 'complete', leaseMs, holdMs: chance.between(MINUTE, 8 * HOUR) }
  if (way < 0.82) return { fate: 'complete', leaseMs: 4 * DAY, holdMs: chance.between(DAY, 3 * DAY) }
  if (way < 0.9) return { fate: 'fail', leaseMs, holdMs: chance.pick([0, HOUR]) }
  if (way < 0.94) return { fate: 'release', leaseMs, holdMs: 0 }
  return { fate: 'lapse', leaseMs, holdMs: 1 }
}

/** People change jobs, and have periods made up for, while all this goes on. */
async function meddle(
  chance: Chance,
  nodes: readonly Node[],
  jobs: readonly PlannedJob[],
  now: number,
  figures: Figures,
  doing: (node: Node, what: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const node = chance.pick(nodes)
  if (node.life.dead) return
  const { name, tenant, options, finishMs } = chance.pick(jobs)
  const { cron } = node.store.tenant(tenant)
  if (chance.happens(0.5)) {
    figures.changes++
    return doing(node, async () => void (await cron.set(name, { ...options, payload: { changed: figures.changes } })))
  }
  if (finishMs !== undefined) return
  figures.backfills++
  return doing(node, async () => void (await cron.backfill(name, { from: now - 2 * DAY, to: now })))
}
