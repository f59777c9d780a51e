// Items that cannot be claimed: those with a live claim, and those behind another item of their series.

import { deepEqual as same } from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { group } from '../case.ts'
import { MAIN, OTHER, put } from '../material.ts'
import { save } from './expect.ts'
import { AN_HOUR, item, offer, ready, remove, timeOf } from './items.ts'

const a = group('claims')

const free = 'a claim is free once it has run out and was not renewed'
const series = 'of a series only the oldest that is not dead can be claimed'

export const claims = [
  a(free, 'a claim that was renewed is held until that runs out', async (bench) => {
    const { leases } = bench.backend
    const [x = 0, y = 0] = await offer(bench, { x: { state: 'claimed' }, y: { state: 'claimed' } }, { grants: true })
    same(await ready(bench.backend), ['x', 'y'], 'nobody said that it is held for longer')
    await leases.renew(MAIN, [{ id: 'x', fence: x }], AN_HOUR, 'work')
    same(await ready(bench.backend), ['y'])
    await leases.renew(MAIN, [{ id: 'y', fence: y }], AN_HOUR, 'work')
    same(await ready(bench.backend), [])
    await leases.renew(MAIN, [{ id: 'x', fence: x }], 1, 'work')
    await wait(20)
    same(await ready(bench.backend), ['x'])
  }),

  a(free, 'a renewal holds for the fence it was made under and for no other', async (bench) => {
    const { leases } = bench.backend
    const [old = 0] = await offer(bench, { x: { state: 'claimed' } }, { grants: true })
    await leases.renew(MAIN, [{ id: 'x', fence: old }], AN_HOUR, 'work')
    same(await ready(bench.backend), [])
    const [next = 0] = await offer(bench, { x: { state: 'claimed' } }, { grants: true })
    same(await ready(bench.backend), ['x'], 'what the last one said is not the next one’s')
    await leases.renew(MAIN, [{ id: 'x', fence: old }], AN_HOUR, 'work')
    same(await ready(bench.backend), ['x'], 'what is lost is not revived')
    await leases.renew(MAIN, [{ id: 'x', fence: next }], AN_HOUR, 'work')
    same(await ready(bench.backend), [])
    await offer(bench, { x: { state: 'claimed', n: 1 } })
    same(await ready(bench.backend), [], 'a change that grants nothing leaves the fence')
    await offer(bench, { x: {} })
    same(await ready(bench.backend), ['x'], 'given back, it is held by nobody')
  }),

  a(series, 'the others wait behind the oldest, whatever its state and their priority', async (bench) => {
    const later = (await timeOf(bench.backend)) + AN_HOUR
    const [fence = 0] = await offer(bench, { a: { series: 's' } }, { grants: true })
    await offer(bench, { b: { series: 's', priority: 9, at: 1 }, c: { series: 's', at: 2 }, d: { series: 't', at: 60 }, e: { at: 70 } })
    same(await ready(bench.backend), ['a', 'd', 'e'])
    for (const body of [
      { at: later },
      { at: later, state: 'claimed' },
      { state: 'asleep', at: null },
      { priority: null },
      { state: null },
    ]) {
      await offer(bench, { a: { series: 's', ...body } })
      same(await ready(bench.backend), ['d', 'e'], JSON.stringify(body))
    }
    await offer(bench, { a: { series: 's', state: 'claimed' } })
    same(await ready(bench.backend), ['a', 'd', 'e'], 'its claim has run out')
    await bench.backend.leases.renew(MAIN, [{ id: 'a', fence }], AN_HOUR, 'work')
    same(await ready(bench.backend), ['d', 'e'], 'its claim is held')
    await remove(bench, 'a')
    same(await ready(bench.backend), ['b', 'd', 'e'], 'done')
    await offer(bench, { b: { priority: 9, at: 1 } })
    same(await ready(bench.backend), ['b', 'c', 'd', 'e'], 'out of the series')
  }),

  a(series, 'the dead block nobody', async (bench) => {
    await offer(bench, { a: { series: 's' }, b: { series: 's' }, c: { series: 's' }, d: { series: 's' }, e: { series: 't' } })
    await offer(bench, { b: { series: 's', state: 'dead' } })
    same(await ready(bench.backend), ['a', 'e'])
    await offer(bench, { a: { series: 's', state: 'dead', at: null } })
    same(await ready(bench.backend), ['c', 'e'])
    await offer(bench, { b: { series: 's' } })
    same(await ready(bench.backend), ['b', 'e'], 'offered anew where it stood')
  }),

  a(series, 'a series is one whatever queues it is in, and another in another tenant', async (bench) => {
    await offer(bench, { a: { series: 's', queue: 'other' }, b: { series: 's' }, c: { series: 'S' }, d: { series: '' }, e: { series: '' } })
    await offer(bench, { f: { series: 's' } }, { tenant: OTHER })
    same(await ready(bench.backend), ['c', 'd'])
    same(await ready(bench.backend, { queue: 'other' }), ['a'])
    same(await ready(bench.backend, { tenant: OTHER }), ['f'])
  }),

  a(series, 'of two that are as old as each other the one whose id is less comes first', async ({ backend, make }) => {
    const twins = ['\u{1F600}', 'a', '\uFFFD'].map((id) => put('work', id, item({ series: 's', priority: id.length })))
    await save(backend, make.commit(MAIN, { changes: twins }))
    for (const id of ['a', '\uFFFD', '\u{1F600}']) {
      same(await ready(backend), [id])
      await remove({ backend, make }, id)
    }
  }),
]
