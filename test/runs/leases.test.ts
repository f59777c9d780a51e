// Several stores contend for the lease of one session, pause, lose it, and try to write all the same. What came of it is as if they had come one
// after the other.

import { describe, expect, test } from 'vitest'
import { type Chance, chance } from '../../src/conformance/chance.ts'
import { MAIN, maker, put } from '../../src/conformance/material.ts'
import type { Event, Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Commit } from '../../src/ports/commit.ts'
import { later } from '../support/engines.ts'
import { type Engine, makePlace, type Place } from './crashing-backend.ts'
import { faultsOf, type Happening } from './lease-history.ts'
import { unfenced } from './unfenced.ts'

const TTL = 60_000
const RENEW = 10

/** One clock for everybody: it only has to tell what came before what. */
class History {
  readonly happened: Happening[] = []
  #ticks = 0

  tick(): number {
    return ++this.#ticks
  }
}

/** Notes every renewal, and what the store found. */
const noting = (backend: Backend, who: string, history: History): Backend => ({
  ...backend,
  leases: {
    ...backend.leases,
    renew: async (tenant, leases, ms) => {
      const from = history.tick()
      const times = await backend.leases.renew(tenant, leases, ms)
      const to = history.tick()
      for (const [i, { fence }] of leases.entries())
        history.happened.push({ who, what: 'renewed', fence, found: times.leases[i]?.fence ?? 0, from, to })
      return times
    },
  },
})

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const codeOf = (error: unknown): string => String((error as { code?: string }).code ?? error)

/** Takes the lease as often as it gets it, writes under it, sometimes stays past its time, and gives it back or is too late for that. */
async function contend(store: Store, who: string, { int, percent }: Chance, rounds: number, place: Place, history: History): Promise<void> {
  const session = await store.session('s')
  for (let round = 0; round < rounds; round++) {
    await pause(int(12))
    let from = history.tick()
    const run = await session.run(`${who}-${round}`).catch((error: unknown) => {
      if (codeOf(error) !== 'RUN_HELD' && codeOf(error) !== 'CONFLICT') throw error
      return undefined
    })
    if (!run) continue
    const { fence } = run
    history.happened.push({ who, what: 'took', fence, seq: fence, from, to: history.tick() })
    try {
      for (let i = 0, notes = 1 + int(5); i < notes; i++) {
        await pause(int(6))
        if (percent(30)) await place.pass(TTL + 1)
        if (percent(50)) await pause(int(20))
        from = history.tick()
        const { seq } = await run.append('note.made', { who, round, i })
        history.happened.push({ who, what: 'wrote', fence, seq, from, to: history.tick() })
      }
    } catch (error) {
      if (codeOf(error) !== 'FENCE_LOST') throw error
      history.happened.push({ who, what: 'refused', fence, from, to: history.tick() })
    }
    from = history.tick()
    await run.close()
    const to = history.tick()
    const released = await releaseOf(store, fence)
    if (!released) continue
    const by = released.run === run.id ? who : 'somebody else'
    history.happened.push({ who: by, what: 'released', fence, seq: released.seq, from, to })
  }
}

/** What the journal says came next: the lease was given back, and not taken over. */
async function releaseOf(store: Store, fence: number): Promise<Event | undefined> {
  for await (const event of store.events({ types: ['lease.taken', 'lease.released'], after: fence, limit: 1 }))
    return event.type === 'lease.released' ? event : undefined
  return undefined
}

async function fight(engine: Engine, seed: number, around: (backend: Backend) => Backend): Promise<readonly Happening[]> {
  const place = await makePlace(engine)
  const history = new History()
  await place.world.session('s')
  const names = ['ada', 'bob', 'cyd', 'dan']
  await Promise.all(
    names.map(async (who, i) => {
      const backend = noting(around(await place.backend()), who, history)
      const store = await place.open(backend, { lease: { ttl: TTL, renew: RENEW, owner: who } })
      later(() => store.close())
      await contend(store, who, chance(seed * 100 + i), engine === 'sqlite' ? 25 : 15, place, history)
    }),
  )
  return history.happened
}

const count = (history: readonly Happening[], wanted: Happening['what']): number => history.filter(({ what }) => what === wanted).length

describe.each<Engine>(['sqlite', 'postgres'])('on %s', (engine) => {
  test('a lease has one holder at a time, and whoever lost it writes nothing more', async () => {
    const all: Happening[] = []
    // They do contend: who took it, wrote and was refused is a matter of moments, and one fight may go by without a refusal.
    const contended = () => count(all, 'took') > 5 && count(all, 'wrote') > 10 && count(all, 'refused') > 0
    const [first, least] = engine === 'sqlite' ? [1, 3] : [4, 2]
    for (let seed = first; seed < first + least || (!contended() && seed < first + 6); seed++) {
      const history = await fight(engine, seed, (backend) => backend)
      expect(faultsOf(history), `seed ${seed}`).toEqual([])
      all.push(...history)
    }
    expect(contended()).toBe(true)
  })

  test('a renewal that comes too late revives nothing', async () => {
    const place = await makePlace(engine)
    const [late, next] = [await place.backend(), await place.backend()]
    later(() => late.close())
    later(() => next.close())
    const make = maker()
    const take = async (backend: Backend) => {
      const grant = { ...put('leases', 'lease', { owner: 'somebody' }), grants: true } as Commit['changes'][number]
      const [outcome] = await backend.commit([make.commit(MAIN, { changes: [grant] })])
      return outcome?.ok ? (outcome.receipts[0]?.seq ?? 0) : 0
    }
    const first = await take(late)
    const second = await take(next)
    expect(second).toBeGreaterThan(first)
    const { leases } = await late.leases.renew(MAIN, [{ id: 'lease', fence: first }], 60_000)
    expect(leases[0]).toMatchObject({ fence: second, until: 0 })
  })

  test('a lease history without the fence is found out', async () => {
    // Which of them meet is a matter of time: on a busy machine one fight may go by without.
    const wanted = ['written under a fence that was not the newest', 'a lease that was revived']
    const found = new Set<string>()
    for (let seed = 9; seed < 15 && found.size < wanted.length; seed++) {
      for (const why of await fight(engine, seed, unfenced).then(faultsOf))
        for (const start of wanted) if (why.startsWith(start)) found.add(start)
    }
    expect([...found].sort()).toEqual([...wanted].sort())
  })
})

describe('the checker', () => {
  const took = (who: string, fence: number, from: number, seq = fence): Happening => ({ who, what: 'took', fence, seq, from, to: from + 1 })
  const wrote = (who: string, fence: number, seq: number, from: number): Happening => ({
    who,
    what: 'wrote',
    fence,
    seq,
    from,
    to: from + 1,
  })
  const released = (who: string, fence: number, seq: number, from: number): Happening => ({
    who,
    what: 'released',
    fence,
    seq,
    from,
    to: from + 1,
  })
  const refused = (who: string, fence: number, from: number): Happening => ({ who, what: 'refused', fence, from, to: from + 1 })
  const renewed = (who: string, fence: number, found: number, from: number): Happening => ({
    who,
    what: 'renewed',
    fence,
    found,
    from,
    to: from + 1,
  })

  const honest = [
    took('ada', 2, 10),
    wrote('ada', 2, 3, 20),
    renewed('ada', 2, 2, 25),
    took('bob', 4, 30),
    renewed('ada', 2, 4, 35),
    refused('ada', 2, 40),
    wrote('bob', 4, 5, 40),
    released('bob', 4, 6, 50),
    took('ada', 7, 60),
    wrote('ada', 7, 8, 70),
  ]

  test('the checker of lease histories finds nothing wrong with an honest history', () => {
    expect(faultsOf(honest)).toEqual([])
    // While a grant is underway, a renewal of the one before may still be answered.
    expect(
      faultsOf([took('ada', 2, 10), { who: 'bob', what: 'took', fence: 4, seq: 4, from: 20, to: 40 }, renewed('ada', 2, 2, 30)]),
    ).toEqual([])
  })

  test.each<[string, readonly Happening[]]>([
    ['written under a fence that was not the newest: ada wrote under 2', [...honest, wrote('ada', 2, 9, 80)]],
    ['written under a fence that was not the newest: bob wrote under 4', [...honest.slice(0, 8), wrote('bob', 4, 7, 80)]],
    ['written by somebody who did not take it: bob wrote under 7', [...honest, wrote('bob', 7, 9, 80)]],
    ['a fence that did not grow: cyd took under 7', [...honest, took('cyd', 7, 80)]],
    ['a fence that is not the place of its grant: cyd took under 8', [...honest, took('cyd', 8, 80, 9)]],
    ['a lease that was revived: ada renewed under 2', [...honest, renewed('ada', 2, 2, 80)]],
    ['a lease that was revived: bob renewed under 4', [...honest, renewed('bob', 4, 4, 80)]],
    ['refused for nothing: ada refused under 7', [...honest, refused('ada', 7, 80)]],
    ['placed after something that was asked for later: ada wrote under 7', [...honest, wrote('ada', 7, 9, 5), wrote('ada', 7, 8, 90)]],
  ])('the checker of lease histories finds out: %s', (why, history) => {
    expect(faultsOf(history)).toContain(why)
  })
})
