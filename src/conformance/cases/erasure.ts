// An erasure removes payload and salt, and leaves everything else unchanged.

import { deepEqual as same } from 'node:assert/strict'
import { hex } from '../../model/bytes.ts'
import { eventDigest, GENESIS, linkHash } from '../../model/chain.ts'
import { group } from '../case.ts'
import { MAIN, put, sha256 } from '../material.ts'
import { headerLine, readAll } from '../picture.ts'
import { save } from './expect.ts'

const a = group('erasure')

const gone = 'an erased payload is gone with its salt'
const stays = 'erasing leaves everything but payload and salt'
const chained = 'the chain still holds after an erasure'

export const erasure = [
  a(gone, 'erased events have no payload and no salt, and others keep theirs', async ({ backend, make }) => {
    await backend.commit(make.commits(MAIN, 6))
    await save(backend, make.commit(MAIN, { changes: [{ kind: 'erase', seqs: [2, 5, 3] }] }))
    const erased = (await readAll(backend.journal, MAIN)).filter((e) => e.payload === undefined || e.salt === undefined)
    same(
      erased.map((e) => [e.seq, e.payload, e.salt]),
      [2, 3, 5].map((seq) => [seq, undefined, undefined]),
    )
    await save(backend, make.commit(MAIN, { changes: [{ kind: 'erase', seqs: [2] }] }))
    same((await readAll(backend.journal, MAIN))[1]?.payload, undefined, 'erasing twice is erasing once')
  }),

  a(gone, 'a commit may erase its own event', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN))
    await save(backend, make.commit(MAIN, { events: [make.draft(MAIN), make.draft(MAIN)], changes: [{ kind: 'erase', seqs: [2] }] }))
    const events = await readAll(backend.journal, MAIN)
    same(
      events.map((e) => e.payload === undefined),
      [false, true, false],
    )
  }),

  a(gone, 'an erased payload is gone through every reading', async ({ backend, make }) => {
    const session = make.id<'session'>()
    await save(backend, make.commit(MAIN, { events: [make.draft(MAIN, { session, payload: '"secret"' })] }))
    await save(backend, make.commit(MAIN, { changes: [{ kind: 'erase', seqs: [1] }] }))
    await backend.upkeep.scrub()
    const snapshot = await backend.upkeep.snapshot(MAIN)
    const pages = [
      await backend.journal.page(MAIN, { from: 0, limit: 1 }),
      await backend.journal.page(MAIN, { from: 2, limit: 1, backwards: true }),
      await backend.journal.page(MAIN, { from: 0, limit: 1, session }),
      await snapshot.journal.page(MAIN, { from: 0, limit: 1 }),
    ]
    await snapshot.close()
    for (const page of pages) same([page.events[0]?.seq, page.events[0]?.payload, page.events[0]?.salt], [1, undefined, undefined])
  }),

  a(stays, 'headers, digests, hashes, rows and the head are as they were', async ({ backend, make }) => {
    const wanted = () => ({ session: make.id<'session'>(), subject: make.id(), actor: 'ada', key: make.chance.bytes(16) })
    await backend.commit(make.commits(MAIN, 4, wanted))
    await save(backend, make.commit(MAIN, { changes: [put('names', 'n')] }))
    const before = (await readAll(backend.journal, MAIN)).map(headerLine)
    await save(backend, make.commit(MAIN, { changes: [{ kind: 'erase', seqs: [1, 3] }] }))
    same((await readAll(backend.journal, MAIN)).slice(0, 5).map(headerLine), before)
    same((await backend.rows.get(MAIN, 'names', 'n'))?.revision, 5)
    same((await backend.journal.head(MAIN)).seq, 6)
  }),

  a(chained, 'every link is recomputed from the headers and digests that are left', async ({ backend, make }) => {
    await backend.commit(make.commits(MAIN, 5))
    await save(backend, make.commit(MAIN, { changes: [{ kind: 'erase', seqs: [1, 4, 5, 6] }] }))
    await save(backend, make.commit(MAIN))
    let previous = GENESIS
    const events = await readAll(backend.journal, MAIN)
    for (const e of events) {
      previous = linkHash(sha256, previous, e.seq, eventDigest(sha256, MAIN, e, e.digest))
      same(hex(e.hash), hex(previous), `the link of seq ${e.seq}`)
    }
    same(events.length, 7)
    same(hex((await backend.journal.head(MAIN)).hash), hex(previous))
  }),

  a(stays, 'usage counts what was erased and no longer counts its bytes', async ({ backend, make }) => {
    await backend.commit(make.commits(MAIN, 3, () => ({ type: 'a.b', payload: '"é"' })))
    await save(
      backend,
      make.commit(MAIN, { events: [make.draft(MAIN, { type: 'c.d', payload: '1' })], changes: [{ kind: 'erase', seqs: [2] }] }),
    )
    same(await backend.queries.usageByType(MAIN), [
      { type: 'a.b', events: 3, bytes: 8, erased: 1 },
      { type: 'c.d', events: 1, bytes: 1, erased: 0 },
    ])
  }),
]
