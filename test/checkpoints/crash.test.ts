// A run with checkpoints dies between any two of its commits, before the save and after it: whoever takes it up ends with the same result, and
// nothing is done again whose outcome was seen.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { type Death, type Engine, makePlace, mortal, type Place } from '../runs/crashing-backend.ts'
import { Outbox } from '../runs/full-program.ts'
import { codeOf } from '../support/engines.ts'
import { rounds, SEED, share } from '../support/rounds.ts'
import { runSteps, STEPS, type Step } from './random-program.ts'

interface Course {
  readonly steps: readonly Step[]
  readonly restores: boolean
  readonly deaths?: readonly Death[]
  readonly around?: (backend: Backend) => Backend
}

interface Told {
  readonly result: unknown
  readonly outbox: Outbox
  readonly commits: number
  readonly lives: number
  /** What the journal and the row hold at the end. */
  readonly appended: number
  readonly tokens: number
  readonly settled: number
  readonly epoch: number
}

const LEASE_MS = 30_000

/** One life after the other, in a tenant of its own, until the run has ended. */
async function untilDone(place: Place, tenant: string, { steps, restores, deaths = [], around = (b) => b }: Course): Promise<Told> {
  const outbox = new Outbox()
  const counts: number[] = []
  let result: unknown
  for (let done = false; !done; ) {
    const backend = await place.backend()
    const life = mortal(around(backend), deaths[counts.length])
    const living = place.open(life.backend).then(async (store) => {
      const run = await (await store.tenant(tenant).session('s')).run('r')
      if (run.state !== 'done') await run.finish(await runSteps(run, steps, restores, outbox, () => life.dead))
      result = (await store.tenant(tenant).runs.handle(run.id)).result()
      await result
      await store.close()
    })
    try {
      done = await Promise.race([living.then(() => true), life.died.then(() => false)])
    } finally {
      if (!done) await backend.close()
    }
    counts.push(life.commits)
    if (!done) await place.pass(LEASE_MS + 1)
  }
  return { result: await result, outbox, commits: counts[0] ?? 0, lives: counts.length, ...(await found(place.world.tenant(tenant))) }
}

async function found(store: Store): Promise<Pick<Told, 'appended' | 'tokens' | 'settled' | 'epoch'>> {
  expect(await store.verify()).toMatchObject({ intact: true })
  expect(await store.rebuild({ check: true })).toMatchObject({ equal: true, differences: [] })
  let [appended, settled] = [0, 0]
  for await (const { type } of store.events()) {
    if (type === 'plan.changed') appended++
    if (type === 'effect.settled') settled++
  }
  const [row] = (await store.runs.list()).items
  return { appended, settled, tokens: row?.usage[0]?.inputTokens ?? 0, epoch: row?.checkpoint?.epoch ?? 0 }
}

function judge(told: Told, clean: Told): readonly string[] {
  const same = (['result', 'appended', 'tokens', 'settled', 'epoch'] as const).filter(
    (what) => JSON.stringify(told[what]) !== JSON.stringify(clean[what]),
  )
  // An effect that was called again has the key of its first call, and no two effects share one.
  const keys = new Map<string, Set<string>>()
  for (const { name, key } of told.outbox.sent) keys.set(name, (keys.get(name) ?? new Set()).add(key))
  const all = [...keys.values()]
  const distinct = new Set(all.flatMap((each) => [...each])).size
  return [
    ...same.map((what) => `another ${what}: ${JSON.stringify(told[what])}, not ${JSON.stringify(clean[what])}`),
    ...told.outbox.again.map((name) => `done again though its outcome was seen: ${name}`),
    ...(all.every(({ size }) => size === 1) && distinct === all.length ? [] : ['keys were repeated, or changed']),
  ]
}

const STEPS_WITH_EVERYTHING: readonly Step[] = [
  ...['effect', 'race', 'checkpoint', 'effect', 'append', 'draw', 'all', 'checkpoint'],
  ...['checkpoint', 'effect', 'begin', 'usage', 'sleep', 'race', 'checkpoint', 'append', 'effect'],
] as Step[]

describe.each<Engine>(['sqlite', 'postgres'])('on %s', (engine) => {
  test.each([true, false])('a run with checkpoints survives a crash at any commit (restores: %s)', async (restores) => {
    const place = await makePlace(engine)
    const course = { steps: STEPS_WITH_EVERYTHING, restores }
    const clean = await untilDone(place, 'clean', course)
    expect(judge(clean, clean)).toEqual([])
    expect(clean).toMatchObject({ lives: 1, epoch: 4, appended: 2, tokens: 1 })
    const every = Array.from({ length: clean.commits }, (_, i) => (['before', 'after'] as const).map((when) => ({ at: i + 1, when })))
    const deaths = share(every.flat(), engine === 'sqlite' ? 5 : 13)
    const wrong: string[] = []
    let died = 0
    for (const [i, death] of deaths.entries()) {
      const told = await untilDone(place, `t${i}`, { ...course, deaths: [death] })
      wrong.push(...judge(told, clean).map((why) => `died ${death.when} commit ${death.at}: ${why}`))
      died += told.lives - 1
    }
    expect(wrong).toEqual([])
    // The control: they did die.
    expect(died).toBeGreaterThan(deaths.length / 2)
  })

  test('programs with checkpoints at random places end as they do without crashes', async () => {
    const place = await makePlace(engine)
    let tenants = 0
    const deaths = fc.array(
      fc.record({ at: fc.integer({ min: 1, max: 12 }), when: fc.constantFrom('before' as const, 'after' as const) }),
      {
        maxLength: 3,
      },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { maxLength: 12 }), fc.boolean(), deaths, async (steps, restores, died) => {
        const clean = await untilDone(place, `p${tenants++}`, { steps, restores })
        const told = await untilDone(place, `p${tenants++}`, { steps, restores, deaths: died })
        expect(judge(told, clean)).toEqual([])
      }),
      { seed: SEED, numRuns: engine === 'sqlite' ? rounds(8, 200) : rounds(2, 40), endOnFailure: true },
    )
  })

  test('a checkpoint that was told before it was saved would be noticed', async () => {
    const place = await makePlace(engine)
    const course: Course = { steps: STEPS_WITH_EVERYTHING, restores: true, deaths: [{ at: 12, when: 'after' }] }
    expect(await codeOf(untilDone(place, 'hasty', { ...course, around: unsavedOnce() }))).toBe('REPLAY_DIVERGED')
    expect(await codeOf(untilDone(place, 'honest', course))).toBe('no error')
  })
})

/** The first checkpoint is told to the program and kept nowhere. */
function unsavedOnce(): (backend: Backend) => Backend {
  let left = 1
  return (backend) => ({
    ...backend,
    commit: async (batch) => {
      const [commit] = batch
      if (left === 0 || commit?.events[0]?.type !== 'run.checkpointed') return backend.commit(batch)
      left--
      const receipts = commit.events.map(({ id }) => ({ id, seq: 0, hash: '', tenant: commit.tenant }))
      return [{ ok: true, receipts, repeated: false, now: Date.now() }]
    },
  })
}
