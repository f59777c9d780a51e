// A key makes a retry safe: the same command under it is written once, another one is refused.

import { ok, deepEqual as same } from 'node:assert/strict'
import { hex } from '../../model/bytes.ts'
import { bodyDigest, receiptDigest } from '../../model/chain.ts'
import type { EventDraft } from '../../model/event.ts'
import { tenantId } from '../../model/ids.ts'
import type { CommitKey, Outcome } from '../../ports/commit.ts'
import type { StoredReceipt } from '../../ports/upkeep.ts'
import { group } from '../case.ts'
import { keyOf, MAIN, OTHER, put, sha256 } from '../material.ts'
import { changesNothing, refused, save, saved, send, seqsOf } from './expect.ts'

const a = group('keys')

const once = 'a key is written once'
const bound = 'a key is bound to its body'
const before = 'a key is looked up before the guards'
const scope = 'keys of two tenants never meet'
const listed = 'the receipts of a tenant are listed by key, each with its digest'
const swept = 'a key is remembered until its receipt is swept'

export const keys = [
  a(once, 'the same key and body get the first receipts again, marked as repeated', async ({ backend, make }) => {
    const key = keyOf(MAIN, 'k')
    const first = await save(backend, make.commit(MAIN, { key, events: [make.draft(MAIN), make.draft(MAIN)] }))
    await save(backend, make.commit(MAIN))
    await changesNothing(backend, [MAIN], async () => {
      const again = make.commit(MAIN, { key, events: [make.draft(MAIN), make.draft(MAIN)], changes: [put('names', 'n')] })
      same(saved(await send(backend, again), true), first)
    })
  }),

  a(once, 'a key with no events asks, and writes nothing', async ({ backend, make }) => {
    const key = keyOf(MAIN, 'k')
    const ask = make.commit(MAIN, { key, events: [] })
    await save(backend, make.commit(MAIN))
    await changesNothing(backend, [MAIN], async () => same(await save(backend, ask), []))
    const first = await save(backend, make.commit(MAIN, { key }))
    same(saved(await send(backend, ask), true), first)
  }),

  a(bound, 'another body under a key is refused with the seq of the first', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN))
    await save(backend, make.commit(MAIN, { key: keyOf(MAIN, 'k', { amount: 1 }) }))
    const other = make.commit(MAIN, { key: keyOf(MAIN, 'k', { amount: 2 }), changes: [put('names', 'n')] })
    await changesNothing(backend, [MAIN], async () => refused(await send(backend, other), 'key', { seq: 2, erased: false }))
    const ask = make.commit(MAIN, { key: keyOf(MAIN, 'k', { amount: 3 }), events: [] })
    refused(await send(backend, ask), 'key', { seq: 2, erased: false })
  }),

  a(bound, 'once the payload is erased even the same body is refused, and says why', async ({ backend, make }) => {
    const key = keyOf(MAIN, 'k')
    await save(backend, make.commit(MAIN, { key, events: [make.draft(MAIN), make.draft(MAIN)] }))
    await save(backend, make.commit(MAIN, { changes: [{ kind: 'erase', seqs: [1] }] }))
    await changesNothing(backend, [MAIN], async () =>
      refused(await send(backend, make.commit(MAIN, { key })), 'key', { seq: 1, erased: true }),
    )
  }),

  a(before, 'a retry finds its receipt where its own first success would refuse it', async ({ backend, make }) => {
    const session = make.id<'session'>()
    const key = keyOf(MAIN, 'k')
    const commit = () =>
      make.commit(MAIN, {
        key,
        guards: [
          { kind: 'row', table: 'names', id: 'n', revision: 0 },
          { kind: 'quiet', session, after: 0 },
          { kind: 'fence', table: 'leases', id: 'l', fence: 0 },
        ],
        events: [make.draft(MAIN, { session })],
        changes: [put('names', 'n'), put('leases', 'l', {}, { grants: true })],
      })
    const first = await save(backend, commit())
    await changesNothing(backend, [MAIN], async () => same(saved(await send(backend, commit()), true), first))
  }),

  a(before, 'another body under a key is refused for the key, not for a guard', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN, { key: keyOf(MAIN, 'k', 1) }))
    const guards = [{ kind: 'row', table: 'names', id: 'n', revision: 9 } as const]
    refused(await send(backend, make.commit(MAIN, { key: keyOf(MAIN, 'k', 2), guards })), 'key', { seq: 1, erased: false })
  }),

  a(scope, 'the same key digest in two tenants names two commits', async ({ backend, make }) => {
    const key = keyOf(MAIN, 'k')
    await save(backend, make.commit(OTHER))
    await save(backend, make.commit(MAIN, { key }))
    const second = await save(backend, make.commit(OTHER, { key: { ...key, body: '{"other":"body"}' } }))
    same(second[0]?.seq, 2)
    saved(await send(backend, make.commit(MAIN, { key })), true)
    same([await seqsOf(backend, MAIN), await seqsOf(backend, OTHER)], [[1], [1, 2]])
  }),

  a(listed, 'receipts are listed in the order of their keys, in steps, and their digests cover them', async ({ backend, make }) => {
    const commits = ['k', 'l', 'm', 'n', 'o'].map((name, i) =>
      make.commit(MAIN, { key: keyOf(MAIN, name, { name }), events: Array.from({ length: 1 + (i % 2) }, () => make.draft(MAIN)) }),
    )
    await save(backend, make.commit(MAIN))
    const outcomes = await Promise.all(commits.map((commit) => send(backend, commit)))
    await save(backend, make.commit(OTHER, { key: keyOf(OTHER, 'k') }))
    const expected = commits
      .map(({ key, events }, i) => ({
        key: hex((key as CommitKey).digest),
        seq: saved(outcomes[i] as Outcome)[0]?.seq,
        count: events.length,
        body: hex(bodyDigest(sha256, (events[0] as EventDraft).salt, (key as CommitKey).body)),
      }))
      .sort((x, y) => (x.key < y.key ? -1 : 1))
    for (const limit of [1, 2, 5, 9]) {
      const read: StoredReceipt[] = []
      for (;;) {
        const page = await backend.upkeep.receipts(MAIN, read.at(-1)?.key, limit)
        ok(page.length <= limit, 'a page is no longer than asked')
        read.push(...page)
        if (page.length < limit) break
      }
      same(
        read.map(({ key, seq, count, body }) => ({ key: hex(key), seq, count, body: hex(body) })),
        expected,
        `${limit} at a time`,
      )
      for (const receipt of read) same(hex(receipt.digest), hex(receiptDigest(sha256, MAIN, receipt)))
    }
    same(await backend.upkeep.receipts(tenantId('nobody'), undefined, 5), [])
  }),

  a(swept, 'a sweep forgets the receipts that are older, tells how many, and leaves the rest', async ({ backend, make }) => {
    const key = keyOf(MAIN, 'k')
    const outcomes = await backend.commit([make.commit(MAIN, { key }), make.commit(OTHER, { key: keyOf(OTHER, 'k') }), make.commit(MAIN)])
    const now = Math.min(...outcomes.map((o) => o.now))
    same(await backend.upkeep.sweepReceipts(now), 0, 'a receipt of this very moment is not older')
    saved(await send(backend, make.commit(MAIN, { key })), true)
    const later = Math.max(...outcomes.map((o) => o.now)) + 1
    await changesNothing(backend, [MAIN, OTHER], async () => same(await backend.upkeep.sweepReceipts(later), 2))
    same(await backend.upkeep.sweepReceipts(later), 0)
    same((await save(backend, make.commit(MAIN, { key })))[0]?.seq, 3, 'a retry after the sweep is a new command')
  }),
]
