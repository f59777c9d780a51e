// A run dies between any two of its commits, before the save and after it, and somebody else goes on: each outcome is recorded once, the result
// is the same, and nothing is done again but what was in doubt.

import { describe, expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import type { Run, Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { later } from '../support/engines.ts'
import { LONG, rounds, seeds, share } from '../support/rounds.ts'
import { type Death, type Engine, makePlace, mortal, type Place, unrecorded } from './crashing-backend.ts'
import { answerRuns, deliveryProgram, fullProgram, Outbox } from './full-program.ts'
import { complaints, inDoubt, type Recorded, readJournal } from './run-audit.ts'
import { unfenced } from './unfenced.ts'

/** How a program gets its run: a node takes it up, or it opens it itself. */
type Shape = 'taken up by a node' | 'opened by its program'

interface Told {
  readonly result: unknown
  readonly recorded: Recorded
  readonly outbox: Outbox
  /** What was done, and not recorded when somebody died. */
  readonly doubted: ReadonlySet<string>
  /** Of the first life. */
  readonly commits: number
  readonly lives: number
}

const LEASE_MS = 30_000
const SESSION = 'support/4711'

interface Course {
  readonly shape: Shape
  readonly deaths?: readonly Death[]
  /** What lies between a life, counted from 1, and the store. */
  readonly around?: (backend: Backend, life: number) => Backend
}

/** One life after the other, in a tenant of its own, until the run has ended. */
async function untilDone(place: Place, tenant: string, { shape, deaths = [], around = (backend) => backend }: Course): Promise<Told> {
  const world = place.world.tenant(tenant)
  const outbox = new Outbox()
  const doubted = new Set<string>()
  const counts: number[] = []
  await world.session(SESSION)
  const stop = answerRuns(world, SESSION)
  const byNode = shape === 'taken up by a node'
  const started = byNode ? await world.start('full', { session: SESSION, key: 'k' }) : undefined
  for (let done = false; !done; ) {
    const backend = await place.backend()
    const life = mortal(around(backend, counts.length + 1), deaths[counts.length])
    const isDead = () => life.dead
    const root = place.open(life.backend)
    const living = root.then(async (store) => {
      const handlers = {
        ...(byNode && { full: (run: Run) => fullProgram(run, outbox, isDead) }),
        delivery: (run: Run, order: { id: number }) => deliveryProgram(run, order, outbox, isDead),
      }
      store.tenant(tenant).work(handlers, { drain: 1 })
      await (started ? started.result() : inHand(store.tenant(tenant), outbox, isDead))
    })
    done = await Promise.race([living.then(() => true), life.died.then(() => false), stuck(world)])
    counts.push(life.commits)
    if (done) await (await root).close()
    else {
      await backend.close()
      for (const attempt of inDoubt(outbox.sent, await readJournal(world))) doubted.add(attempt)
      await place.pass(LEASE_MS + 1)
    }
  }
  await stop()
  await expectSoundTenant(world)
  const [run] = (await world.runs.list({ name: 'full' })).items
  const result = await (await world.runs.handle(run?.id ?? '')).result()
  return { result, recorded: await readJournal(world), outbox, doubted, commits: counts[0] ?? 0, lives: counts.length }
}

const STUCK_MS = 60_000

/** Nobody died and nothing ends: better told with how things stand than found by a timeout. */
async function stuck(store: Store): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, STUCK_MS).unref())
  const { items } = await store.page({ backwards: true, limit: 12 })
  throw new Error(`stuck: ${JSON.stringify([items.map(({ seq, type, data }) => [seq, type, data]), (await store.runs.list()).items])}`)
}

async function inHand(store: Store, outbox: Outbox, isDead: () => boolean): Promise<void> {
  const run = await (await store.session(SESSION)).run('full')
  if (run.state !== 'done') await run.finish(await fullProgram(run, outbox, isDead))
}

async function expectSoundTenant(store: Store): Promise<void> {
  expect(await store.verify()).toMatchObject({ intact: true })
  expect(await store.rebuild({ check: true })).toMatchObject({ equal: true, differences: [] })
}

const judge = (told: Told, clean: Told): readonly string[] => [
  ...told.outbox.again.map((name) => `done again though its outcome was seen: ${name}`),
  ...complaints(told.recorded, clean.recorded, told.outbox.sent, told.doubted),
  ...(JSON.stringify(told.result) === JSON.stringify(clean.result) ? [] : [`another result: ${JSON.stringify(told.result)}`]),
]

// Most of the time is spent waiting for the store, so several are waited for at once.
const LANES = 3

/** Each course in a tenant of its own; those that share a place, and its time, come one after the other. */
async function each<T>(
  engine: Engine,
  courses: readonly T[],
  walk: (place: Place, tenant: string, course: T) => Promise<void>,
): Promise<void> {
  const left = courses.map((course, i) => [`t${i}`, course] as const)
  const lane = async () => {
    const place = await makePlace(engine)
    for (let next = left.shift(); next; next = left.shift()) await walk(place, ...next)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

const cleanly = async (engine: Engine, shape: Shape): Promise<Told> => {
  const clean = await untilDone(await makePlace(engine), 'clean', { shape })
  expect(judge(clean, clean)).toEqual([])
  expect(clean).toMatchObject({ lives: 1, result: { flaky: 'at last', go: { text: 'now' }, won: 'fast', delivery: { packed: 4711 } } })
  return clean
}

describe.each<Engine>(['sqlite', 'postgres'])('on %s', (engine) => {
  test.each<Shape>(['taken up by a node', 'opened by its program'])('a run %s survives a crash at any commit', async (shape) => {
    const clean = await cleanly(engine, shape)
    const every = Array.from({ length: clean.commits }, (_, i) => (['before', 'after'] as const).map((when) => ({ at: i + 1, when })))
    // An odd share has deaths before and after a commit.
    const deaths = share(every.flat(), engine === 'sqlite' ? 13 : 19)
    const wrong: string[] = []
    let died = 0
    let doubted = 0
    await each(engine, deaths, async (place, tenant, death) => {
      const told = await untilDone(place, tenant, { shape, deaths: [death] })
      wrong.push(...judge(told, clean).map((why) => `died ${death.when} commit ${death.at}: ${why}`))
      died += told.lives - 1
      doubted += told.doubted.size
    })
    expect(wrong).toEqual([])
    // The controls: they did die, and some of them with something in hand.
    expect(died).toBeGreaterThan(deaths.length * 0.6)
    // The few deaths of a short run on a server may all have nothing in hand.
    if (LONG || engine === 'sqlite') expect(doubted).toBeGreaterThan(rounds(0, 3))
  })

  test('a run whose process dies again and again gets to its end all the same', async () => {
    const shape = 'taken up by a node'
    const clean = await cleanly(engine, shape)
    const wrong: string[] = []
    await each(engine, engine === 'sqlite' ? seeds(1, 12) : seeds(1, 6), async (place, tenant, seed) => {
      const { int, pick } = chance(seed)
      const deaths = Array.from({ length: 5 }, () => ({ at: 2 + int(6), when: pick(['before', 'after'] as const) }))
      const told = await untilDone(place, tenant, { shape, deaths })
      // What was in doubt more than once may have been done more than twice.
      const twice = told.outbox.sent.length - new Set(told.outbox.sent.map(({ name, attempt }) => `${name}/${attempt}`)).size
      const excess = twice > told.lives ? [`${twice} things were done again in ${told.lives} lives`] : []
      const grave = judge(told, clean).filter((why) => !why.startsWith('done '))
      wrong.push(...[...grave, ...excess].map((why) => `seed ${seed}: ${why}`))
      expect(told.lives).toBeGreaterThan(3)
    })
    expect(wrong).toEqual([])
  })

  test('an outcome that was told before it was recorded would be found done again', async () => {
    const course = { shape: 'opened by its program', deaths: [{ at: 3, when: 'before' }] } as const
    const clean = await cleanly(engine, course.shape)
    const place = await makePlace(engine)
    const hasty = await untilDone(place, 'hasty', { ...course, around: (backend, life) => (life === 1 ? unrecorded(backend) : backend) })
    expect(judge(hasty, clean)).toEqual(['done again though its outcome was seen: order'])
    expect(judge(await untilDone(place, 'honest', course), clean)).toEqual([])
  })

  test.each([
    ['is refused by the fence', (backend: Backend) => backend, 'FENCE_LOST', []],
    ['would record a second outcome without it', unfenced, 'by the first', ["2 outcomes: r: effect charge #1 in ''"]],
  ])('two nodes that both believe they hold the run: the older one %s', async (_, around, expected, wrong) => {
    const place = await makePlace(engine)
    const backends = [around(await place.backend()), around(await place.backend())] as const
    const [one, two] = await Promise.all(backends.map((backend) => place.open(backend)))
    later(() => Promise.all([one?.close(), two?.close()]))
    const first = await (await (one as Store).session('s')).run('r')
    const ended = Promise.withResolvers<string>()
    const late = first.effect('charge', () => ended.promise).catch((error: { code: string }) => error.code)
    await place.pass(LEASE_MS + 1)
    const second = await (await (two as Store).session('s')).run('r')
    expect(await second.effect('charge', () => 'by the second')).toBe('by the second')
    ended.resolve('by the first')
    expect(await late).toBe(expected)
    const recorded = await readJournal(place.world)
    expect(complaints(recorded, { ...recorded, once: new Map() }, [], new Set()).filter((why) => why.includes('outcomes'))).toEqual(wrong)
    await second.finish()
  })
})
