// Deleting a session takes many commits. Whoever asked may die between any two of them: what was said is erased all the same.

import { describe, expect, test } from 'vitest'
import type { SessionId, Store } from '../../src/index.ts'
import { expectSound, later } from '../support/engines.ts'
import { type Engine, makePlace, mortal } from './crashing-backend.ts'

/** What can still be read of it. */
async function left(store: Store, session: SessionId): Promise<readonly string[]> {
  const types: string[] = []
  for await (const { type, erased } of store.events({ session })) if (!erased) types.push(type)
  return types
}

describe.each<Engine>(['sqlite', 'postgres'])('on %s', (engine) => {
  test('a session whose deleter dies at any commit is erased by whoever is there', async () => {
    const { world, backend, open, pass } = await makePlace(engine)
    const sessions: SessionId[] = []
    for (let at = 1, survived = false; !survived; at++) {
      for (const when of ['before', 'after'] as const) {
        const key = `${at} ${when}`
        const session = await world.session(key)
        await session.append('said.this', { secret: 1 })
        await world.start('answer', { session: key, input: { secret: 2 } })
        await session.input({ secret: 3 })
        const life = mortal(await backend(), { at, when })
        const doomed = await open(life.backend, { schedule: false })
        const deletion = doomed.sessions.find(key).then((found) => found?.delete({ reason: 'asked for' }))
        survived = await Promise.race([deletion.then(() => true), life.died.then(() => false)])
        if (survived) await doomed.close()
        // Nobody has heard of it before it was saved.
        if (at > 1 || when === 'after') sessions.push(session.id)
      }
    }
    const before = await Promise.all(sessions.map((id) => left(world, id)))
    // The control: as they were left, some are not erased.
    expect(before.filter((types) => types.length > 1).length).toBeGreaterThan(2)

    const node = world.work({ other: () => {} })
    later(() => node.close())
    await pass(61_000)
    for (const id of sessions) await expect.poll(() => left(world, id)).toEqual(['session.deleted'])
    await expect.poll(async () => (await world.runs.list({ state: 'pending' })).items.length).toBe(1)
    await expect.poll(async () => (await world.queues()).find(({ queue }) => queue === 'clock/deletions')).toBeUndefined()
    await expectSound(world)
  })

  test('several nodes go on with a deletion once', async () => {
    const { world, backend, open, pass } = await makePlace(engine)
    const session = await world.session('s')
    for (let i = 0; i < 20; i++) await session.append('said.this', i)
    const life = mortal(await backend(), { at: 1, when: 'after' })
    const doomed = await open(life.backend, { schedule: false })
    // The dead process gets no answer; the lane gives up after this test.
    doomed.sessions
      .find('s')
      .then((found) => found?.delete({ reason: 'asked for' }))
      .catch(() => {})
    await life.died
    for (let i = 0; i < 3; i++) {
      const store = await open(await backend())
      later(() => store.close())
      store.work({ other: () => {} })
    }
    await pass(61_000)
    await expect.poll(() => left(world, session.id)).toEqual(['session.deleted'])
    expect(await count(world, 'payload.erased')).toBe(2)
    await expectSound(world)
  })
})

async function count(store: Store, type: string): Promise<number> {
  let found = 0
  for await (const _ of store.events({ types: [type] })) found++
  return found
}
