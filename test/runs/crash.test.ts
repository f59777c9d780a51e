// A run dies between any two of its commits, before the save and after it, and somebody else goes on: each outcome is recorded once, the result
// is the same, and nothing is done again but what was in doubt.

import { describe, expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import type { Run, Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { errand, Outbox, parcel, people } from './errand.ts'
import { type Death, type Engine, makePlace, mortal, type Place, unrecorded } from './lives.ts'
import { complaints, inDoubt, type Recorded, readJournal } from './verdict.ts'

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
  readonly around?: (backend: Backend) => Backend
}

/** One life after the other, in a tenant of its own, until the run has ended. */
async function untilDone(place: Place, tenant: string, { shape, deaths = [], around = (backend) => backend }: Course): Promise<Told> {
  const world = place.world.tenant(tenant)
  const outbox = new Outbox()
  const doubted = new Set<string>()
  const counts: number[] = []
  await world.session(SESSION)
  const stop = people(world, SESSION)
  const byNode = shape === 'taken up by a node'
  const started = byNode ? await world.start('errand', { session: SESSION, key: 'k' }) : undefined
  for (let done = false; !done; ) {
    const backend = await place.backend()
    const life = mortal(around(backend), deaths[counts.length])
    const isDead = () => life.dead
    const root = place.open(life.backend)
    const living = root.then(async (store) => {
      const handlers = {
        ...(byNode && { errand: (run: Run) => errand(run, outbox, isDead) }),
        parcel: (run: Run, order: { id: number }) => parcel(run, order, outbox, isDead),
      }
      store.tenant(tenant).work(handlers, { drain: 1 })
      await (started ? started.result() : inHand(store.tenant(tenant), outbox, isDead))
    })
    done = await Promise.race([living.then(() => true), life.died.then(() => false)])
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
  const [run] = (await world.runs.list({ name: 'errand' })).items
  const result = await (await world.runs.handle(run?.id ?? '')).result()
  return { result, recorded: await readJournal(world), outbox, doubted, commits: counts[0] ?? 0, lives: counts.length }
}

async function inHand(store: Store, outbox: Outbox, isDead: () => boolean): Promise<void> {
  const run = await (await store.session(SESSION)).run('errand')
  if (run.state !== 'done') await run.finish(await errand(run, outbox, isDead))
}

async function expectSoundTenant(store: Store): Promise<void> {
  expect(await store.verify()).toMatchObject({ intact: true })
  expect(await store.rebuild({ check: true })).toMatchObject({ equal: true, differences: [] })
}

const judge = (told: Told, clean: Told): readonly string[] => [
  ...complaints(told.recorded, clean.recorded, told.outbox.sent, told.doubted),
  ...(JSON.stringify(told.result) === JSON.stringify(clean.result) ? [] : [`another result: ${JSON.stringify(told.result)}`]),
]

describe.each<Engine>(['sqlite', 'postgres'])('on %s', (engine) => {
  test.each<Shape>(['taken up by a node', 'opened by its program'])('a run %s survives a crash at every commit', async (shape) => {
    const place = await makePlace(engine)
    const clean = await untilDone(place, 'clean', { shape })
    expect(judge(clean, clean)).toEqual([])
    expect(clean).toMatchObject({ lives: 1, result: { flaky: 'at last', go: { text: 'now' }, won: 'fast', parcel: { packed: 4711 } } })
    const t0 = performance.now()
    const wrong: string[] = []
    let died = 0
    let doubted = 0
    for (let at = 1; at <= clean.commits; at++) {
      for (const when of ['before', 'after'] as const) {
        const told = await untilDone(place, `${when}-${at}`, { shape, deaths: [{ at, when }] })
        wrong.push(...judge(told, clean).map((why) => `died ${when} commit ${at}: ${why}`))
        died += told.lives - 1
        doubted += told.doubted.size
      }
    }
    console.log(engine, shape, { commits: clean.commits, died, doubted, ms: Math.round(performance.now() - t0) })
    expect(wrong).toEqual([])
    expect(died).toBeGreaterThan(clean.commits)
    expect(doubted).toBeGreaterThan(5)
  })
})
