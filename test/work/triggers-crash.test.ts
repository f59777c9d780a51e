// Firing while others change the triggers, and dying while firing: whatever happens, everybody who was to be told at that moment is told
// once, and nobody else. The journal says who that was.

import { describe, expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import { open, type Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Commit } from '../../src/ports/commit.ts'
import { type Death, type Engine, makePlace, mortal, type Place } from '../runs/crashing-backend.ts'
import { codeOf, expectSound, later, tempFile } from '../support/engines.ts'
import { complaintsOf } from './trigger-oracle.ts'

const asked = { source: 'stripe', queue: 'billing' } as const
const ENGINES: readonly Engine[] = ['sqlite', 'postgres']

const openWith = async (place: Place, around: (backend: Backend) => Backend): Promise<Store> => {
  const store = await place.open(around(await place.backend()))
  later(() => store.close())
  return store
}

/** Somebody else does something between the reading of the triggers and the commit, as often as there is something left to do. */
const between =
  (left: (() => Promise<unknown>)[]) =>
  (backend: Backend): Backend => ({
    ...backend,
    rows: {
      ...backend.rows,
      list: async (tenant, table, query) => {
        const page = await backend.rows.list(tenant, table, query)
        if (table === 'triggers') await left.shift()?.()
        return page
      },
    },
  })

const mapped =
  (change: (commit: Commit) => Commit) =>
  (backend: Backend): Backend => ({ ...backend, commit: (batch) => backend.commit(batch.map(change)) })

/** As if nobody looked whether the triggers are still those that were read. */
const unguarded = mapped((commit) => ({
  ...commit,
  guards: commit.guards.filter((guard) => !(guard.kind === 'row' && guard.table === 'sources')),
}))

/** As if what happened and who is told were two commits, and the process died between them. */
const torn = mapped((commit) =>
  commit.events[0]?.type === 'trigger.fired'
    ? {
        ...commit,
        events: commit.events.slice(0, 1),
        changes: commit.changes.filter((change) => change.kind === 'put' && change.event === 0),
      }
    : commit,
)

const DEATHS: readonly Death['when'][] = ['before', 'after']

describe.each(ENGINES)('on %s', (engine) => {
  const course = async (around: (backend: Backend) => Backend): Promise<readonly string[]> => {
    const place = await makePlace(engine)
    const { world } = place
    for (const name of ['a', 'b', 'c']) await world.triggers.on(name, asked)
    const left = [
      () => world.triggers.disable('a'),
      () => world.triggers.on('d', asked),
      () => world.triggers.on('b', { ...asked, queue: 'other' }),
      () => world.triggers.delete('c'),
      () => world.triggers.on('d', { ...asked, source: 'github' }),
      () => world.triggers.enable('a'),
    ]
    const store = await openWith(place, (backend) => around(between(left)(backend)))
    for (let i = 0; left.length > 0; i++) await store.triggers.fire('stripe', i, { key: `evt_${i}` })
    await expectSound(world)
    return complaintsOf(world)
  }

  test('a trigger that changes between the reading and the commit is told as it was at the commit', async () => {
    expect(await course((backend) => backend)).toEqual([])
  })

  test('a trigger that changes between the reading and the commit would be told as it was before without the guard', async () => {
    expect(await course(unguarded)).not.toEqual([])
  })

  test('two handles that fire, register, disable and delete at once: everybody is told as things stood, once', async () => {
    const place = await makePlace(engine)
    const stores = [place.world, await openWith(place, (backend) => backend)]
    const random = chance(7)
    const types = ['x', 'y']
    const change = async ({ triggers }: Store) => {
      const name = `t${random.int(4)}`
      const verb = random.pick(['on', 'on', 'disable', 'enable', 'delete'] as const)
      if (verb === 'on') await triggers.on(name, { ...asked, match: { type: random.pick(types) } })
      else await codeOf(triggers[verb](name))
    }
    const fire = async ({ triggers }: Store) => triggers.fire('stripe', { type: random.pick(types) }, { key: `evt_${random.int(60)}` })
    const told: string[] = []
    for (let round = 0; round < 20; round++) {
      const all = stores.flatMap((store) => [change(store), ...Array.from({ length: 3 }, () => fire(store).catch(reusedOnly))])
      for (const fired of await Promise.all(all)) if (fired && !fired.repeated) told.push(fired.firing)
    }
    expect(new Set(told).size).toBe(told.length)
    expect(await complaintsOf(place.world)).toEqual([])
    expect((await place.world.triggers.history({ source: 'stripe', last: 100 })).items).toHaveLength(told.length)
    await expectSound(place.world)
  })

  test('two handles that fire with one key fire once, and both hear of the same deliveries', async () => {
    const place = await makePlace(engine)
    const other = await openWith(place, (backend) => backend)
    for (const name of ['a', 'b']) await place.world.triggers.on(name, asked)
    for (let i = 0; i < 10; i++) {
      const answers = await Promise.all(
        [place.world, other, place.world, other].map(({ triggers }) => triggers.fire('stripe', i, { key: `evt_${i}` })),
      )
      expect(answers.filter(({ repeated }) => !repeated)).toHaveLength(1)
      expect(new Set(answers.map(({ firing, deliveries }) => JSON.stringify([firing, deliveries])))).toHaveProperty('size', 1)
    }
    expect(await place.world.queue('billing').stats()).toMatchObject({ ready: 20 })
    await expectSound(place.world)
  })

  test.each(DEATHS)(
    'a crash %s the firing is saved leaves all of it or nothing, and firing again with the key completes it',
    async (when) => {
      const place = await makePlace(engine)
      for (const name of ['a', 'b']) await place.world.triggers.on(name, asked)
      const life = mortal(await place.backend(), { at: 1, when })
      const dying = await place.open(life.backend)
      void dying.triggers.fire('stripe', 1, { key: 'evt_1' }).catch(() => {})
      await life.died
      expect(await complaintsOf(place.world)).toEqual([])
      const again = await place.world.triggers.fire('stripe', 1, { key: 'evt_1' })
      expect(again).toMatchObject({ repeated: when === 'after', deliveries: [{ trigger: 'a' }, { trigger: 'b' }] })
      expect(await place.world.queue('billing').stats()).toMatchObject({ ready: 2 })
      expect(await complaintsOf(place.world)).toEqual([])
      await expectSound(place.world)
    },
  )

  test('a firing in two commits, with a death between them, would never be told to anybody', async () => {
    const place = await makePlace(engine)
    for (const name of ['a', 'b']) await place.world.triggers.on(name, asked)
    const life = mortal(torn(await place.backend()), { at: 1, when: 'after' })
    const dying = await place.open(life.backend)
    void dying.triggers.fire('stripe', 1, { key: 'evt_1' }).catch(() => {})
    await life.died
    expect(await complaintsOf(place.world)).not.toEqual([])
    expect(await place.world.triggers.fire('stripe', 1, { key: 'evt_1' })).toMatchObject({ deliveries: [] })
  })

  test.each(DEATHS)(
    'a crash %s a delivery is settled is followed by another worker, and the delivery says what its item says',
    async (when) => {
      const place = await makePlace(engine)
      await place.world.triggers.on('a', asked)
      await place.world.triggers.fire('stripe', 1, { key: 'evt_1' })
      const life = mortal(await place.backend(), { at: 2, when })
      const dying = await place.open(life.backend, { schedule: false })
      const claim = await dying.queue('billing').claim({ lease: '10s' })
      void claim?.complete().catch(() => {})
      await life.died
      await place.pass(11_000)
      const next = await place.world.queue('billing').claim()
      expect(next === undefined).toBe(when === 'after')
      await next?.complete()
      const [fired] = (await place.world.triggers.history({ trigger: 'a' })).items
      expect(fired?.deliveries).toMatchObject([{ state: 'delivered', attempt: when === 'after' ? 1 : 2 }])
      await expectSound(place.world)
    },
  )
})

test('a reserved delivery is there after opening again', async () => {
  const path = tempFile()
  const first = await open(path)
  await first.triggers.on('a', asked)
  const fired = await first.triggers.fire('stripe', 1, { key: 'evt_1' })
  await first.close()
  await using again = await open(path)
  expect(await again.triggers.get('a')).toMatchObject({ revision: 1, state: 'enabled' })
  expect(await again.triggers.fire('stripe', 1, { key: 'evt_1' })).toEqual({ ...fired, repeated: true })
  expect((await again.queue('billing').claim())?.id).toBe(fired.deliveries[0]?.item)
  await expectSound(again)
})

/** Two chose the same key for two types. */
const reusedOnly = (error: { readonly code?: string }): undefined => {
  if (error.code !== 'KEY_REUSED') throw error
}
