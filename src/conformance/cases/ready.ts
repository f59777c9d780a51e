// The query of workers in one tenant: which items of a queue can be claimed, in which order, and when to look again.

import { ok, rejects, deepEqual as same } from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import type { Backlog, ReadyWork } from '../../model/queries.ts'
import { group } from '../case.ts'
import { MAIN, OTHER, put } from '../material.ts'
import { save } from './expect.ts'
import { ALL, AN_HOUR, item, offer, ready, remove, timeOf } from './items.ts'

const a = group('ready')

const ordered = 'what can be claimed comes by priority, then by time, then by age'
const bounded = 'no more can be claimed than was asked for, and the first come first'
const due = 'only what is due can be claimed'
const again = 'a queue says when it is worth looking again'
const walled = 'what can be claimed is told of one queue of one tenant that is active'
const counted = 'a queue says how much of it is in which state'
const shared = 'several handles are one store'

export const readies = [
  a(ordered, 'the most urgent come first, whatever their time and age', async (bench) => {
    await offer(bench, {
      lowest: { priority: Number.MIN_SAFE_INTEGER, at: 1 },
      low: { priority: -3, at: 2 },
      none: { at: 3 },
      high: { priority: 7, at: 90 },
      higher: { priority: 1000, at: 80 },
      highest: { priority: Number.MAX_SAFE_INTEGER, at: 99 },
    })
    same(await ready(bench.backend), ['highest', 'higher', 'high', 'none', 'low', 'lowest'])
  }),

  a(ordered, 'as urgent as each other, the earliest come first, then the oldest, then those whose id is less', async (bench) => {
    await offer(bench, { d: { at: 40 }, c: { at: 30 }, b: { at: 40 }, a: { at: -5 }, e: { at: 0 } })
    const born = ['\u{1F600}', 'z', '\uFFFD', 'Z', 'é'].map((id) => put('work', id, item({ at: 40 })))
    await save(bench.backend, bench.make.commit(MAIN, { changes: born }))
    same(await ready(bench.backend), ['a', 'e', 'c', 'd', 'b', 'Z', 'z', 'é', '\uFFFD', '\u{1F600}'])
    await offer(bench, { d: { at: 40, n: 1 } })
    same((await ready(bench.backend))[3], 'd', 'a change makes nothing younger')
  }),

  a(ordered, 'what was claimed and is free again takes its place among the rest', async (bench) => {
    await offer(bench, { a: { at: 20 }, b: { at: 40 }, c: { priority: 5, at: 60 } })
    await offer(bench, { x: { at: 30, state: 'claimed' }, y: { at: 10, priority: 5, state: 'claimed' } }, { grants: true })
    const all = ['y', 'c', 'a', 'x', 'b']
    same(await ready(bench.backend), all)
    for (const limit of [1, 2, 3, 4]) same(await ready(bench.backend, { limit }), all.slice(0, limit), `at most ${limit}`)
  }),

  a(ordered, 'a row is given as it is stored', async (bench) => {
    const [fence] = await offer(bench, { claimed: { state: 'claimed', n: [1, 'ä'] } }, { grants: true })
    await offer(bench, { plain: { at: 60 } })
    const { rows } = await bench.backend.queries.ready(MAIN, 'q', ALL)
    same(rows, [await bench.backend.rows.get(MAIN, 'work', 'claimed'), await bench.backend.rows.get(MAIN, 'work', 'plain')])
    same(rows[0]?.fence, fence)
  }),

  a(bounded, 'the limit cuts off the last, of one priority and of many', async (bench) => {
    const items = Array.from(
      { length: 24 },
      (_, i) => [`i${String(i).padStart(2, '0')}`, { priority: -Math.floor(i / 6), at: 90 - 10 * Math.floor(i / 6) + (i % 6) }] as const,
    )
    await offer(bench, Object.fromEntries(items.toReversed()))
    const all = items.map(([id]) => id)
    for (const limit of [0, 1, 5, 6, 7, 13, 23, 24, 25])
      same(await ready(bench.backend, { limit }), all.slice(0, limit), `at most ${limit}`)
  }),

  a(due, 'what is due later, has no time or no priority, sleeps, is dead or is in no state is not there', async (bench) => {
    const later = (await timeOf(bench.backend)) + AN_HOUR
    await offer(bench, {
      later: { at: later },
      'claimed for long': { at: later, state: 'claimed' },
      timeless: { at: null },
      'claimed and timeless': { at: null, state: 'claimed' },
      'of a run': { priority: null },
      'claimed, of a run': { priority: null, state: 'claimed' },
      asleep: { state: 'asleep' },
      dead: { state: 'dead' },
      stateless: { state: null },
    })
    same(await ready(bench.backend), [])
    await offer(bench, { later: {}, dead: { at: 60 }, asleep: { at: 0 }, timeless: { at: later } })
    same(await ready(bench.backend), ['asleep', 'later', 'dead'], 'brought forward, woken and offered anew')
    await remove(bench, 'later')
    await offer(bench, { asleep: { state: 'asleep' } })
    same(await ready(bench.backend), ['dead'], 'removed and put to sleep')
  }),

  a(due, 'however much that is more urgent is due later, what is due now is found', async (bench) => {
    const later = (await timeOf(bench.backend)) + AN_HOUR
    const many = Array.from({ length: 300 }, (_, i) => [`l${i}`, { priority: 1 + (i % 7), at: later + i }])
    await offer(bench, { ...Object.fromEntries(many), now: { at: 5 }, 'rather now': { priority: 3, at: 90 } })
    same(await ready(bench.backend, { limit: 2 }), ['rather now', 'now'])
  }),

  a(due, 'an item comes up when its time does', async (bench) => {
    const at = (await timeOf(bench.backend)) + 60
    await offer(bench, { soon: { at } })
    for (let looks = 0; looks < 200; looks++) {
      const { now, rows } = await bench.backend.queries.ready(MAIN, 'q', ALL)
      same(rows.length, now >= at ? 1 : 0, `at ${now - at}`)
      if (rows.length > 0) return
      await wait(5)
    }
    ok(false, 'it never came up')
  }),

  a(again, 'the next time is the earliest that has not come, of anything in the queue', async (bench) => {
    const look = (queue = 'q'): Promise<ReadyWork> => bench.backend.queries.ready(MAIN, queue, 1)
    const next = async (queue?: string) => (await look(queue)).next
    same([await next(), Object.hasOwn(await look(), 'next')], [undefined, false], 'nothing is there')
    const now = await timeOf(bench.backend)
    await offer(bench, { a: {}, b: { at: null }, c: { at: 7, state: 'claimed' }, d: { queue: 'other', at: now + 7 * AN_HOUR } })
    same(await next(), undefined, 'nothing that is still to come')
    await offer(bench, { e: { at: now + 5 * AN_HOUR }, f: { at: now + 3 * AN_HOUR, state: 'claimed' } })
    same(await next(), now + 3 * AN_HOUR)
    await offer(bench, { g: { at: now + 2 * AN_HOUR, priority: null, state: 'asleep' }, h: { at: now + 9 * AN_HOUR } })
    same([await next(), await next('other'), await next('nowhere')], [now + 2 * AN_HOUR, now + 7 * AN_HOUR, undefined])
    await remove(bench, 'g')
    await offer(bench, { f: { at: 3 } })
    same(await next(), now + 5 * AN_HOUR)
  }),

  a(again, 'its now is the store’s', async ({ backend }) => {
    const before = await timeOf(backend)
    const { now } = await backend.queries.ready(MAIN, 'q', 1)
    const after = await timeOf(backend)
    ok(before <= now && now <= after, `${before} <= ${now} <= ${after}`)
  }),

  a(walled, 'tenants and queues are apart, by their exact names', async (bench) => {
    const { backend } = bench
    const queues = ['q', 'Q', 'qq', '', 'runs/ä']
    await offer(bench, Object.fromEntries([...queues, null].map((queue) => [`in ${queue}`, { queue }])))
    await offer(bench, { theirs: {}, 'in q': { at: 90 } }, { tenant: OTHER })
    for (const queue of queues) same(await ready(backend, { queue }), [`in ${queue}`], `queue ${JSON.stringify(queue)}`)
    same(await ready(backend, { queue: 'other' }), [])
    same(await ready(backend, { tenant: OTHER }), ['theirs', 'in q'])
    const [claim = 0] = await offer(bench, { 'in q': { state: 'claimed' } }, { grants: true })
    for (let seq = (await backend.journal.head(OTHER)).seq; seq < claim - 1; seq++) await save(backend, bench.make.commit(OTHER))
    const [theirs = 0] = await offer(bench, { 'in q': { state: 'claimed' } }, { tenant: OTHER, grants: true })
    same(theirs, claim, 'both hold it under the same fence')
    await backend.leases.renew(OTHER, [{ id: 'in q', fence: theirs }], AN_HOUR, 'work')
    same([await ready(backend), await ready(backend, { tenant: OTHER })], [['in q'], ['theirs']], 'a renewal is its tenant’s')
  }),

  a(walled, 'a tenant that nobody has written to has nothing, and one that is closed shows nothing', async (bench) => {
    const { backend, make } = bench
    const look = async () => [await ready(backend), await backend.queries.backlog(MAIN)] as const
    same(await look(), [[], []])
    await offer(bench, { a: {} })
    const before = await look()
    same(before[0], ['a'])
    for (const state of ['suspended', 'active', 'deleted'] as const) {
      await save(backend, make.commit(MAIN, { changes: [{ kind: 'state', state }] }))
      if (state === 'active') same(await look(), before)
      else {
        await rejects(ready(backend), { code: 'TENANT_CLOSED' })
        await rejects(backend.queries.backlog(MAIN), { code: 'TENANT_CLOSED' })
      }
    }
  }),

  a(counted, 'each queue is told once, in the order of their names, with what it holds', async (bench) => {
    const none: Omit<Backlog, 'queue'> = { ready: 0, delayed: 0, claimed: 0, asleep: 0, dead: 0 }
    const later = (await timeOf(bench.backend)) + AN_HOUR
    same(await bench.backend.queries.backlog(MAIN), [])
    const [fence = 0] = await offer(bench, { held: { state: 'claimed' } }, { grants: true })
    await bench.backend.leases.renew(MAIN, [{ id: 'held', fence }], AN_HOUR, 'work')
    await offer(bench, {
      now: { series: 's' },
      'behind it': { series: 's' },
      'of a run': { priority: null },
      timeless: { at: null },
      later: { at: later },
      'free again': { state: 'claimed' },
      'for long': { state: 'claimed', at: later },
      asleep: { state: 'asleep', at: null },
      'asleep until then': { state: 'asleep', at: later },
      dead: { state: 'dead', at: null },
      other: { queue: 'Q', state: 'dead' },
      empty: { queue: '' },
      'with a name': { queue: 'null', at: later },
      stateless: { queue: 'é', state: null },
      nowhere: { queue: null },
    })
    await offer(bench, { theirs: {} }, { tenant: OTHER })
    same(await bench.backend.queries.backlog(MAIN), [
      { ...none, queue: '', ready: 1 },
      { ...none, queue: 'Q', dead: 1 },
      { ...none, queue: 'null', delayed: 1 },
      { queue: 'q', ready: 4, delayed: 1, claimed: 3, asleep: 2, dead: 1 },
      { ...none, queue: 'é' },
    ])
    await remove(bench, 'other')
    same(
      (await bench.backend.queries.backlog(MAIN)).map(({ queue }) => queue),
      ['', 'null', 'q', 'é'],
      'what is empty is not told',
    )
  }),

  a(
    shared,
    'what one handle offers or holds can be claimed, or not, through another at once',
    async ({ backend, make, second }) => {
      const other = await second()
      same(await ready(other), [])
      const [fence = 0] = await offer({ backend, make }, { a: { state: 'claimed' }, b: {} }, { grants: true })
      same(await ready(other), ['a', 'b'])
      await other.leases.renew(MAIN, [{ id: 'a', fence }], AN_HOUR, 'work')
      same(await ready(backend), ['b'])
      await remove({ backend: other, make }, 'b')
      same(await ready(backend), [])
    },
    'second',
  ),
]
