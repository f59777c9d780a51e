// A commit is applied whole or not at all, and a batch is its commits one after the other.

import { deepEqual as same } from 'node:assert/strict'
import type { Commit } from '../../ports/commit.ts'
import { group } from '../case.ts'
import { keyOf, MAIN, OTHER, put } from '../material.ts'
import { changesNothing, idsOf, refused, save, saved, send, seqsOf } from './expect.ts'

const a = group('batches')

const whole = 'a commit is applied whole or not at all'
const order = 'outcomes stand in the order of the batch'
const alone = 'a refused commit spoils no other'
const sees = 'a commit sees those before it in its batch'

export const batches = [
  a(whole, 'the events and the rows of a commit appear together', async ({ backend, make }) => {
    const events = [make.draft(MAIN), make.draft(MAIN), make.draft(MAIN)]
    const receipts = await save(
      backend,
      make.commit(MAIN, { events, changes: [put('names', 'a'), put('sessions', 's', {}, { event: 2 })] }),
    )
    same(
      receipts.map((r) => [r.seq, r.id, r.tenant]),
      events.map((e, i) => [i + 1, e.id, MAIN]),
    )
    same(
      await idsOf(backend, MAIN),
      events.map((e) => e.id),
    )
    same((await backend.rows.get(MAIN, 'names', 'a'))?.revision, 1)
    same((await backend.rows.get(MAIN, 'sessions', 's'))?.revision, 3)
  }),

  a(whole, 'a refused commit leaves no event, no row, no receipt and no erasure', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN, { changes: [put('names', 'a', { target: 'x' })] }))
    const guard = { kind: 'row', table: 'names', id: 'a', revision: 7 } as const
    const key = keyOf(MAIN, 'k')
    const commit = make.commit(MAIN, {
      key,
      guards: [guard],
      events: [make.draft(MAIN), make.draft(MAIN)],
      changes: [
        put('names', 'b'),
        { kind: 'remove', table: 'names', id: 'a' },
        { kind: 'erase', seqs: [1] },
        put('leases', 'l', {}, { grants: true }),
      ],
    })
    await changesNothing(backend, [MAIN], async () => refused(await send(backend, commit), guard, 1))
    const again = await save(backend, make.commit(MAIN, { key }))
    same(again[0]?.seq, 2, 'the key of a refused commit is still free')
  }),

  a(whole, 'the last of several guards refuses as the first does', async ({ backend, make }) => {
    const holds = { kind: 'row', table: 'names', id: 'free', revision: 0 } as const
    const fails = { kind: 'row', table: 'names', id: 'free', revision: 1 } as const
    const commit = make.commit(MAIN, { guards: [holds, fails], changes: [put('names', 'free')] })
    await changesNothing(backend, [MAIN], async () => refused(await send(backend, commit), fails, 0))
  }),

  a(whole, 'nothing is left of a commit that the store chokes on, and its neighbours are whole', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN))
    const choking = make.commit(MAIN, { changes: [put('names', 'n'), { kind: 'erase', seqs: [99] }] })
    const neighbours = make.commits(MAIN, 2)
    const batch = [neighbours[0] as Commit, choking, neighbours[1] as Commit]
    const outcomes = await backend.commit(batch).catch(() => undefined)
    const ids = await idsOf(backend, MAIN)
    same(ids.includes(choking.events[0]?.id as string), false, 'none of its events is there')
    same(await backend.rows.get(MAIN, 'names', 'n'), undefined, 'none of its rows is there')
    // A backend may refuse this commit alone or reject the batch. Its outcomes for the others must be true.
    outcomes?.forEach((outcome, i) => {
      same(outcome.ok ? 'saved' : outcome.refused, batch[i] === choking ? 'failed' : 'saved')
    })
    if (outcomes) same(ids.slice(1), [batch[0]?.events[0]?.id, batch[2]?.events[0]?.id])
  }),

  a(order, 'outcomes answer the commits in the order they were given', async ({ backend, make }) => {
    const guard = { kind: 'row', table: 'names', id: 'n', revision: 9 } as const
    const batch = [
      make.commit(MAIN),
      make.commit(OTHER),
      make.commit(MAIN, { guards: [guard] }),
      make.commit(MAIN, { events: [make.draft(MAIN), make.draft(MAIN)] }),
      make.commit(OTHER),
    ]
    const outcomes = await backend.commit(batch)
    same(
      outcomes.map((o) => (o.ok ? o.receipts.map((r) => `${r.tenant} ${r.seq} ${r.id}`) : 'refused')),
      [
        [`main 1 ${batch[0]?.events[0]?.id}`],
        [`acme 1 ${batch[1]?.events[0]?.id}`],
        'refused',
        [`main 2 ${batch[3]?.events[0]?.id}`, `main 3 ${batch[3]?.events[1]?.id}`],
        [`acme 2 ${batch[4]?.events[0]?.id}`],
      ],
    )
  }),

  a(order, 'an empty batch has no outcomes and changes nothing', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN))
    await changesNothing(backend, [MAIN], async () => same(await backend.commit([]), []))
    same((await save(backend, make.commit(MAIN)))[0]?.seq, 2)
  }),

  a(order, 'five hundred commits in one batch are five hundred commits', async ({ backend, make }) => {
    const batch = make.commits(MAIN, 500)
    const outcomes = await backend.commit(batch)
    same(
      outcomes.flatMap((o) => saved(o).map((r) => `${r.seq} ${r.id}`)),
      batch.map((c, i) => `${i + 1} ${c.events[0]?.id}`),
    )
    same((await seqsOf(backend, MAIN)).length, 500)
  }),

  a(alone, 'a refused commit in the middle of a batch changes nothing and spoils no other', async ({ backend, make }) => {
    const guard = { kind: 'row', table: 'names', id: 'n', revision: 9 } as const
    const batch = [
      make.commit(MAIN, { changes: [put('names', 'first')] }),
      make.commit(MAIN, { guards: [guard], changes: [put('names', 'middle')] }),
      make.commit(MAIN, { changes: [put('names', 'last')] }),
    ]
    const outcomes = await backend.commit(batch)
    saved(outcomes[0])
    refused(outcomes[1], guard, 0)
    same(saved(outcomes[2])[0]?.seq, 2)
    same(await idsOf(backend, MAIN), [batch[0]?.events[0]?.id, batch[2]?.events[0]?.id])
    const rows = await Promise.all(['first', 'middle', 'last'].map((id) => backend.rows.get(MAIN, 'names', id)))
    same(
      rows.map((row) => row?.revision),
      [1, undefined, 2],
    )
  }),

  a(sees, 'of two commits in a batch that want the same row, the first gets it', async ({ backend, make }) => {
    const guard = { kind: 'row', table: 'names', id: 'n', revision: 0 } as const
    const claim = () => make.commit(MAIN, { guards: [guard], changes: [put('names', 'n')] })
    const outcomes = await backend.commit([claim(), claim(), claim()])
    saved(outcomes[0])
    refused(outcomes[1], guard, 1)
    refused(outcomes[2], guard, 1)
    same(await seqsOf(backend, MAIN), [1])
  }),

  a(sees, 'a later commit of a batch may build on the row of an earlier one', async ({ backend, make }) => {
    const outcomes = await backend.commit([
      make.commit(MAIN, { changes: [put('names', 'n', { target: 'x' })] }),
      make.commit(MAIN, {
        guards: [{ kind: 'row', table: 'names', id: 'n', revision: 1 }],
        changes: [put('names', 'n', { target: 'y' })],
      }),
      make.commit(MAIN, { changes: [{ kind: 'remove', table: 'names', id: 'n' }] }),
      make.commit(MAIN, { guards: [{ kind: 'row', table: 'names', id: 'n', revision: 0 }], changes: [put('names', 'n')] }),
    ])
    for (const outcome of outcomes) saved(outcome)
    same(await backend.rows.get(MAIN, 'names', 'n'), { id: 'n', born: 4, revision: 4, body: '{}' })
  }),

  a(sees, 'a key that comes twice in one batch is written once', async ({ backend, make }) => {
    const key = keyOf(MAIN, 'k')
    const [first, second] = await backend.commit([make.commit(MAIN, { key }), make.commit(MAIN, { key })])
    same(saved(second, true), saved(first))
    same(await seqsOf(backend, MAIN), [1])
  }),

  a(sees, 'a session that an earlier commit of the batch wrote to is not quiet', async ({ backend, make }) => {
    const session = make.id<'session'>()
    const guard = { kind: 'quiet', session, after: 0 } as const
    const append = () => make.commit(MAIN, { guards: [guard], events: [make.draft(MAIN, { session })] })
    const [first, second] = await backend.commit([append(), append()])
    saved(first)
    refused(second, guard, 1)
  }),
]
