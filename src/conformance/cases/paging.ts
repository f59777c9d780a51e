// Pages of the journal: within their bounds, without gap or repeat, in any size and direction.

import { ok, deepEqual as same } from 'node:assert/strict'
import { hex } from '../../model/bytes.ts'
import { type EventDraft, type TypePattern, typePattern } from '../../model/event.ts'
import type { Backend } from '../../ports/backend.ts'
import type { PageQuery } from '../../ports/journal.ts'
import { type Bench, group } from '../case.ts'
import { MAIN, OTHER, type WantedEvent } from '../material.ts'
import { readAll } from '../picture.ts'
import { save } from './expect.ts'

const a = group('paging')

const unbroken = 'pages neither skip an event nor repeat one'
const bounded = 'a page keeps to its bounds'
const chosen = 'a page holds what its query names and nothing else'
const honest = 'a page says how far it looked'

const MOST = 12
interface Placed extends Omit<EventDraft, 'payload' | 'salt'> {
  readonly seq: number
}

const seqs = (events: readonly { readonly seq: number }[]): readonly number[] => events.map((e) => e.seq)
const count = (from: number, to: number): readonly number[] => Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)

/** Writes events and returns our own copy of them, with their seqs. */
async function fill({ backend, make }: Bench, wanted?: (i: number) => WantedEvent): Promise<readonly Placed[]> {
  const commits = make.commits(MAIN, MOST, wanted)
  await backend.commit(commits)
  return commits.flatMap((commit) => commit.events).map((draft, i) => ({ ...draft, seq: i + 1 }))
}

/** Checks that every limit and both directions give the same events. */
async function readsAs(backend: Backend, query: Partial<PageQuery>, expected: readonly number[]): Promise<void> {
  for (let limit = 1; limit <= MOST + 1; limit++) {
    same(seqs(await readAll(backend.journal, MAIN, { ...query, limit })), expected, `upwards, ${limit} at a time`)
    const down = { ...query, from: MOST + 1, limit, backwards: true }
    same(seqs(await readAll(backend.journal, MAIN, down)), [...expected].reverse(), `downwards, ${limit} at a time`)
  }
}

export const paging = [
  a(unbroken, 'every size of page gives every event once, upwards and downwards', async (bench) => {
    await fill(bench)
    await readsAs(bench.backend, {}, count(1, MOST))
  }),

  a(unbroken, 'every size of page gives every event of a session once, though others lie between', async (bench) => {
    const sessions = [bench.make.id<'session'>(), bench.make.id<'session'>(), undefined]
    await fill(bench, (i) => ({ ...(sessions[i % 3] && { session: sessions[i % 3] as never }) }))
    await readsAs(bench.backend, { session: sessions[1] as never }, [2, 5, 8, 11])
  }),

  a(unbroken, 'what is committed while a reader pages is read once', async ({ backend, make }) => {
    await backend.commit(make.commits(MAIN, 5))
    const first = await backend.journal.page(MAIN, { from: 0, limit: 3 })
    await backend.commit(make.commits(MAIN, 5))
    const rest = await readAll(backend.journal, MAIN, { from: first.through, limit: 3 })
    same([...seqs(first.events), ...seqs(rest)], count(1, 10))
    const end = await backend.journal.page(MAIN, { from: 0, limit: 100, types: [typePattern('none.such')] })
    await backend.commit(make.commits(MAIN, 1))
    same(seqs(await readAll(backend.journal, MAIN, { from: end.through })), [11])
  }),

  a(bounded, 'a page holds no more than its limit', async (bench) => {
    await fill(bench)
    for (const limit of [1, 5, MOST]) {
      const page = await bench.backend.journal.page(MAIN, { from: 0, limit })
      same(seqs(page.events), count(1, limit))
    }
  }),

  a(bounded, 'a page reaches from its seq, which is left out, to another, which is not', async (bench) => {
    await fill(bench)
    const read = async (query: Partial<PageQuery>) => seqs(await readAll(bench.backend.journal, MAIN, { limit: 4, ...query }))
    for (const from of [0, 1, 5, MOST - 1, MOST]) {
      for (const to of [0, 1, 6, MOST, MOST + 5]) {
        same(await read({ from, to }), count(from + 1, Math.min(to, MOST)), `beyond ${from} to ${to}`)
        const down = count(Math.max(to, 1), Math.min(from - 1, MOST)).toReversed()
        same(await read({ from, to, backwards: true }), down, `before ${from} down to ${to}`)
      }
    }
  }),

  a(bounded, 'a page stops once its bytes are gathered, and holds one event where there is one', async (bench) => {
    await fill(bench, () => ({ payload: `"${'x'.repeat(98)}"` }))
    const { journal } = bench.backend
    for (const backwards of [false, true]) {
      const from = backwards ? MOST + 1 : 0
      const sizes = []
      for (const bytes of [0, 1, 99, 100, 101, 250, 100 * MOST]) {
        const page = await journal.page(MAIN, { from, limit: 100, bytes, backwards })
        sizes.push(page.events.length)
        const all = await readAll(journal, MAIN, { from, limit: 100, bytes, backwards })
        same(seqs(all), backwards ? count(1, MOST).toReversed() : count(1, MOST))
      }
      same(sizes, [1, 1, 1, 1, 2, 3, MOST])
      const none = await journal.page(MAIN, { from: backwards ? 1 : MOST, limit: 100, bytes: 0, backwards })
      same([none.events, none.more], [[], false], 'no event, no more')
    }
  }),

  a(honest, 'a page that says there is no more has looked at everything', async (bench) => {
    await fill(bench)
    const { journal } = bench.backend
    const none = { types: [typePattern('none.such')], limit: 5 }
    const up = await journal.page(MAIN, { from: 0, ...none })
    same([up.events.length, up.through, up.more], [0, MOST, false])
    const down = await journal.page(MAIN, { from: MOST + 1, backwards: true, ...none })
    same([down.events.length, down.more], [0, false])
    ok(down.through <= 1, `looked down to ${down.through}`)
  }),

  a(honest, 'a page that says there is more has not looked past what it left out', async (bench) => {
    const session = bench.make.id<'session'>()
    await fill(bench, (i) => (i % 2 === 0 ? { session } : {}))
    for (const backwards of [false, true]) {
      const page = await bench.backend.journal.page(MAIN, { from: backwards ? MOST + 1 : 0, limit: 2, session, backwards })
      const [last, next] = backwards ? [9, 7] : [3, 5]
      same(page.more, true)
      same(page.events.at(-1)?.seq, last)
      ok(backwards ? page.through <= last && page.through > next : page.through >= last && page.through < next, `through ${page.through}`)
    }
  }),

  a(honest, 'a tenant nobody has written to has an empty page and no more', async ({ backend, make }) => {
    await save(backend, make.commit(OTHER))
    for (const query of [{ from: 0 }, { from: 9 }, { from: 9, backwards: true }, { from: 0, backwards: true }]) {
      const page = await backend.journal.page(MAIN, { limit: 5, ...query })
      same([page.events, page.more], [[], false])
    }
  }),

  a(honest, 'a page from beyond the head is empty and stays where it is', async (bench) => {
    await fill(bench)
    const page = await bench.backend.journal.page(MAIN, { from: MOST + 20, limit: 5 })
    same([page.events, page.through, page.more], [[], MOST + 20, false])
  }),

  ...filters(),
]

function filters() {
  const types = ['plan.changed', 'plan.changed.twice', 'planet.seen', 'tool.called', 'tool.returned', 'plan-b.made']
  const wanted = ({ make }: Bench) => {
    const [session, run, subject, key] = [make.id<'session'>(), make.id<'run'>(), make.id(), make.chance.bytes(16)]
    return (i: number): WantedEvent => ({
      type: types[i % types.length] as string,
      at: 1000 + 10 * ((i * 5) % MOST),
      actor: ['', 'ada', 'grace'][i % 3] as string,
      ...(i % 2 === 0 && { session }),
      ...(i % 3 === 0 && { run }),
      ...(i % 4 === 0 && { subject }),
      ...(i % 5 > 2 && { key }),
    })
  }
  const check = async (bench: Bench, queries: (all: readonly Placed[]) => readonly [Partial<PageQuery>, (e: Placed) => boolean][]) => {
    const all = await fill(bench, wanted(bench))
    for (const [query, matches] of queries(all)) await readsAs(bench.backend, query, seqs(all.filter(matches)))
  }
  const patterns = (...texts: string[]): { types: readonly TypePattern[] } => ({ types: texts.map(typePattern) })
  const under =
    (...starts: string[]) =>
    (e: Placed) =>
      starts.some((start) => e.type.startsWith(start))
  const exactly =
    (...names: string[]) =>
    (e: Placed) =>
      names.includes(e.type)

  return [
    a(chosen, 'a page of a session, a run or a subject holds its events alone', (bench) =>
      check(bench, ([first]) => [
        [{ session: first?.session as never }, (e) => e.session === first?.session],
        [{ run: first?.run as never }, (e) => e.run === first?.run],
        [{ subject: first?.subject as never }, (e) => e.subject === first?.subject],
        [{ session: first?.run as never }, () => false],
        [
          { session: first?.session as never, run: first?.run as never, subject: first?.subject as never },
          (e) => e.session !== undefined && e.run !== undefined && e.subject !== undefined,
        ],
      ]),
    ),

    a(chosen, 'a page of an id holds that event alone', (bench) =>
      check(bench, (all) => [
        ...all.map((one): [Partial<PageQuery>, (e: Placed) => boolean] => [{ id: one.id }, (e) => e === one]),
        [{ id: bench.make.id<'event'>() }, () => false],
        [{ id: all[0]?.id as never, session: bench.make.id<'session'>() }, () => false],
      ]),
    ),

    a(chosen, 'a page of a key holds the events that were appended under it, and none about a row', (bench) =>
      check(bench, (all) => {
        const key = all.find((e) => e.key)?.key as Uint8Array
        return [
          [{ key }, (e) => e.key !== undefined && e.subject === undefined],
          [{ key, actor: 'ada' }, (e) => e.key !== undefined && e.subject === undefined && e.actor === 'ada'],
          [{ key: bench.make.chance.bytes(16) }, () => false],
        ]
      }),
    ),

    a(chosen, 'a page of an actor holds the events that name it, nobody being an actor too', (bench) =>
      check(bench, () => [
        [{ actor: 'ada' }, (e) => e.actor === 'ada'],
        [{ actor: '' }, (e) => e.actor === ''],
        [{ actor: 'ad' }, () => false],
      ]),
    ),

    a(chosen, 'a page of types takes names, prefixes, several of them, all and none', (bench) =>
      check(bench, () => [
        [patterns('plan.changed'), exactly('plan.changed')],
        [patterns('plan.*'), under('plan.')],
        [patterns('plan.changed.*'), under('plan.changed.')],
        [patterns('tool.called', 'planet.seen'), exactly('tool.called', 'planet.seen')],
        [patterns('tool.*', 'plan.changed'), (e) => under('tool.')(e) || e.type === 'plan.changed'],
        [patterns('*'), () => true],
        [patterns('none.such'), () => false],
        [{ types: [] }, () => false],
      ]),
    ),

    a(chosen, 'a page of a time holds what the appender stamped from then on and before the end', (bench) =>
      check(bench, () => [
        [{ since: 1050 }, (e) => e.at >= 1050],
        [{ until: 1050 }, (e) => e.at < 1050],
        [{ since: 1030, until: 1080 }, (e) => e.at >= 1030 && e.at < 1080],
        [{ since: 9999 }, () => false],
      ]),
    ),

    a(chosen, 'several conditions hold together', (bench) =>
      check(bench, ([first]) => [
        [
          { session: first?.session as never, actor: '', since: 1010, ...patterns('plan.*', 'tool.*') },
          (e) => e.session !== undefined && e.actor === '' && e.at >= 1010 && under('plan.', 'tool.')(e),
        ],
        [
          { run: first?.run as never, until: 1100, ...patterns('tool.called') },
          (e) => e.run !== undefined && e.at < 1100 && e.type === 'tool.called',
        ],
        [{ subject: first?.subject as never, actor: 'ada' }, (e) => e.subject !== undefined && e.actor === 'ada'],
      ]),
    ),

    a(chosen, 'a page has the bytes of its events and no one else’s', async (bench) => {
      await fill(bench, (i) => ({ payload: JSON.stringify({ i }), ...(i % 2 === 0 && { key: bench.make.chance.bytes(16) }) }))
      const all = await readAll(bench.backend.journal, MAIN)
      for (const e of all) {
        const page = await bench.backend.journal.page(MAIN, { from: e.seq - 1, limit: 1 })
        const [one] = page.events
        same(one && [one.id, one.payload && hex(one.payload), one.key && hex(one.key)], [
          e.id,
          e.payload && hex(e.payload),
          e.key && hex(e.key),
        ])
        same(Buffer.from(e.payload ?? []).toString(), JSON.stringify({ i: e.seq - 1 }))
      }
    }),
  ]
}
