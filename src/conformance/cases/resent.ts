// A commit that is sent again after a lost reply: if it had arrived, it is found and not written twice.

import { deepEqual as same } from 'node:assert/strict'
import { group } from '../case.ts'
import { keyOf, MAIN, put } from '../material.ts'
import { changesNothing, idsOf, save, saved, send, seqsOf } from './expect.ts'

const a = group('lost replies')

const found = 'a commit whose reply was lost is written once'
const beyond = 'an earlier sending is looked for beyond the named seq alone'

export const resent = [
  a(found, 'a commit that had arrived is answered with its own receipts', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN))
    const commit = make.commit(MAIN, { events: [make.draft(MAIN), make.draft(MAIN)], changes: [put('names', 'n')] })
    const first = await save(backend, commit)
    await save(backend, make.commit(MAIN, { changes: [put('names', 'n', { target: 'later' })] }))
    await changesNothing(backend, [MAIN], async () => same(saved(await send(backend, { ...commit, since: 1 }), true), first))
  }),

  a(found, 'it is found even where its guards no longer hold', async ({ backend, make }) => {
    const session = make.id<'session'>()
    const commit = make.commit(MAIN, {
      guards: [
        { kind: 'row', table: 'names', id: 'n', revision: 0 },
        { kind: 'quiet', session, after: 0 },
      ],
      events: [make.draft(MAIN, { session })],
      changes: [put('names', 'n')],
    })
    const first = await save(backend, commit)
    same(saved(await send(backend, { ...commit, since: 0 }), true), first)
    same(await seqsOf(backend, MAIN), [1])
  }),

  a(found, 'a commit that had not arrived is written', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN))
    const commit = make.commit(MAIN, { changes: [put('names', 'n')], since: 1 })
    same((await save(backend, commit))[0]?.seq, 2)
    same((await backend.rows.get(MAIN, 'names', 'n'))?.revision, 2)
  }),

  a(found, 'of a batch of which half had arrived only the other half is written', async ({ backend, make }) => {
    const batch = make.commits(MAIN, 4)
    await backend.commit(batch.slice(0, 2))
    const outcomes = await backend.commit(batch.map((c) => ({ ...c, since: 0 })))
    same(
      outcomes.map((o) => o.ok && o.repeated),
      [true, true, false, false],
    )
    same(
      await idsOf(backend, MAIN),
      batch.map((c) => c.events[0]?.id),
    )
  }),

  a(found, 'a keyed commit that had arrived is found by its key', async ({ backend, make }) => {
    const commit = make.commit(MAIN, { key: keyOf(MAIN, 'k') })
    const first = await save(backend, commit)
    same(saved(await send(backend, { ...commit, since: 1 }), true), first)
    same(await seqsOf(backend, MAIN), [1])
  }),

  a(found, 'it is found after its payload was erased', async ({ backend, make }) => {
    const commit = make.commit(MAIN)
    const first = await save(backend, commit)
    await save(backend, make.commit(MAIN, { changes: [{ kind: 'erase', seqs: [1] }] }))
    same(saved(await send(backend, { ...commit, since: 0 }), true), first)
  }),

  a(beyond, 'what lies at or below the seq is not looked for', async ({ backend, make }) => {
    const commit = make.commit(MAIN)
    await save(backend, make.commit(MAIN))
    await save(backend, commit)
    same((await save(backend, { ...commit, since: 2 }))[0]?.seq, 3)
    const id = commit.events[0]?.id
    same((await idsOf(backend, MAIN)).slice(1), [id, id])
  }),
]
