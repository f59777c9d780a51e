// What was said to a turn that died and that nobody goes on with: the next turn of the session hears it, in its place, once.

import { describe, expect, test } from 'vitest'
import type { Run, Session, TakenInput } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { ListQuery } from '../../src/ports/rows.ts'
import { type Engine, makePlace, mortal, never, type Place } from '../runs/crashing-backend.ts'
import { expectSound, later } from '../support/engines.ts'

const LEASE_MS = 30_000

const contents = (taken: readonly TakenInput[]): readonly unknown[] =>
  taken.map(({ content, redriven }) => (redriven ? `${content} again` : content))
const statesOf = async (session: Session): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries((await session.inputs.list({ first: 100 })).items.map(({ content, state }) => [String(content), state]))

describe.each<Engine>(['sqlite', 'postgres'])('an input on %s', (engine) => {
  /** A turn that took `a`, was told `b`, and died; `c` came later, for the next turn. */
  const died = async () => {
    const place = await makePlace(engine)
    const session = await place.world.session('s')
    await session.input('a')
    const first = mortal(await place.backend())
    const lost = await (await (await place.open(first.backend)).session('s')).run('turn', { key: 'lost' })
    expect(contents(await lost.inputs({ from: 'next' }))).toEqual(['a'])
    await session.input('b', { turn: lost.id })
    first.kill()
    await session.input('c', { turn: 'next' })
    return { place, session, lost }
  }

  test('an input of a turn that died is heard by the next turn, with what waits for it, in the order it was said', async () => {
    const { place, session, lost } = await died()
    await place.pass(LEASE_MS + 1)
    const other = await session.run('turn', { key: 'other' })
    expect(contents(await other.inputs({ from: 'next', most: 2 }))).toEqual(['a again', 'b again'])
    expect(contents(await other.inputs({ from: 'next' }))).toEqual(['c'])
    expect(contents(await other.inputs({ from: 'next' }))).toEqual([])
    // The run it was taken from is picked up after all: it hears what it heard, and nothing of it is its own any more.
    const again = await session.run('turn', { key: 'lost' })
    expect(again.id).toBe(lost.id)
    expect(contents(await again.inputs({ from: 'next' }))).toEqual(['a'])
    expect(contents(await again.inputs())).toEqual([])
    await again.fail(new Error('too late'))
    expect(await statesOf(session)).toEqual({ a: 'accepted', b: 'accepted', c: 'accepted' })
    const back = await session.run('turn', { key: 'other' })
    expect(contents(await back.inputs({ from: 'next', most: 2 }))).toEqual(['a again', 'b again'])
    expect(contents([...(await back.inputs({ from: 'next' })), ...(await back.inputs({ from: 'next' }))])).toEqual(['c'])
    await back.finish()
    expect(await statesOf(session)).toEqual({ a: 'completed', b: 'completed', c: 'completed' })
    await expectSound(place.world)
  })

  test('an input stays with the turn where somebody goes on with it', async () => {
    const { place, session } = await died()
    await place.pass(LEASE_MS + 1)
    const again = await session.run('turn', { key: 'lost' })
    expect(contents(await again.inputs({ from: 'next' }))).toEqual(['a'])
    expect(contents(await again.inputs())).toEqual(['b'])
    expect(contents(await again.inputs({ from: 'next' }))).toEqual(['c'])
    await again.finish()
    expect(new Set(Object.values(await statesOf(session)))).toEqual(new Set(['completed']))
    await expectSound(place.world)
  })

  test('an input stays with a turn that waits, and with one beside the turns, however long', async () => {
    const place = await makePlace(engine)
    const session = await place.world.session('s')
    await session.input('a')
    const elsewhere = await place.open(await place.backend())
    const there = await elsewhere.session('s')
    const asking = await there.run('turn', { key: 'asking' })
    expect(contents(await asking.inputs({ from: 'next' }))).toEqual(['a'])
    const answer = asking.signal('go').catch(() => 'never')
    await expect.poll(async () => (await place.world.runs.get(asking.id))?.state).toBe('waiting')
    const beside = await there.run('aside', { parallel: true })
    await session.input('d', { turn: beside.id })
    expect(contents(await beside.inputs())).toEqual(['d'])
    await elsewhere.close()
    expect(await answer).toBe('never')
    await place.pass(LEASE_MS + 1)
    const other = await session.run('turn', { key: 'other' })
    expect(contents(await other.inputs({ from: 'next' }))).toEqual([])
    await other.finish()
    expect(await statesOf(session)).toEqual({ a: 'accepted', d: 'accepted' })
    await place.world.signal('s', 'go', 'now')
    await place.pass(LEASE_MS + 1)
    const back = await session.run('turn', { key: 'asking' })
    expect(contents(await back.inputs({ from: 'next' }))).toEqual(['a'])
    expect(await back.signal('go')).toBe('now')
    await back.finish()
    await expectSound(place.world)
  })

  /** A store in which something happens once, right after a list of inputs was read and before it is used. */
  const interrupted = async (place: Place, isThen: (query: ListQuery) => boolean) => {
    const real = await place.backend()
    const between = { happens: undefined as (() => Promise<unknown>) | undefined }
    const list: Backend['rows']['list'] = async (tenant, table, query) => {
      const page = await real.rows.list(tenant, table, query)
      const { happens } = between
      if (table === 'inputs' && isThen(query) && happens) {
        between.happens = undefined
        await happens()
      }
      return page
    }
    const store = await place.open({ ...real, rows: { ...real.rows, list } })
    later(() => store.close())
    return { session: await store.session('s'), between }
  }

  test('an input is not taken from a turn that somebody goes on with while the next one asks', async () => {
    const place = await makePlace(engine)
    const { session, between } = await interrupted(place, ({ index }) => index === 'bySessionAndState')
    const left = await session.run('turn', { key: 'A' })
    await session.input('b', { turn: left.id })
    await left.close()
    const next = await session.run('turn', { key: 'B' })
    let back: Run | undefined
    let heard: readonly TakenInput[] = []
    between.happens = async () => {
      back = await session.run('turn', { key: 'A' })
      heard = await back.inputs()
    }
    expect(contents(await next.inputs({ from: 'next' }))).toEqual([])
    expect(contents(heard)).toEqual(['b'])
    await back?.finish()
    await next.finish()
    expect(await statesOf(session)).toEqual({ b: 'completed' })
    await expectSound(place.world)
  })

  test('an input that is left to the next turn while that turn asks is heard once', async () => {
    const place = await makePlace(engine)
    const { session, between } = await interrupted(place, ({ index, equals }) => index === 'byRun' && equals[1] === 'pending')
    const left = await session.run('turn', { key: 'A' })
    await session.input('b', { turn: left.id })
    await left.close()
    const next = await session.run('turn', { key: 'B' })
    between.happens = () => place.world.runs.cancel(left.id, 'abandoned')
    expect(contents(await next.inputs({ from: 'next' }))).toEqual(['b'])
    expect(contents(await next.inputs({ from: 'next' }))).toEqual([])
    await next.finish()
    expect(await statesOf(session)).toEqual({ b: 'completed' })
    await expectSound(place.world)
  })

  test('an input stays with a turn that nodes take up, whichever of them died with it', async () => {
    const place = await makePlace(engine)
    const session = await place.world.session('s')
    await session.input('a')
    const first = mortal(await place.backend())
    const dead = await place.open(first.backend)
    const heard = Promise.withResolvers<void>()
    dead.work({
      turn: async (run) => {
        await run.inputs({ from: 'next' })
        heard.resolve()
        await never()
      },
    })
    const { id } = await place.world.start('turn', { session: 's', key: 'A' })
    await heard.promise
    first.kill()
    await place.pass(LEASE_MS + 1)
    const next = await session.run('turn', { key: 'B' })
    expect(contents(await next.inputs({ from: 'next' }))).toEqual([])
    await next.finish()
    const told: unknown[] = []
    const node = place.world.work({ turn: async (run) => void told.push(...contents(await run.inputs({ from: 'next' }))) })
    await expect.poll(async () => (await place.world.runs.get(id))?.state).toBe('done')
    await node.close()
    expect(told).toEqual(['a'])
    await expectSound(place.world)
  })
})
