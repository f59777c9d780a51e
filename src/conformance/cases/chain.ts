// The chain, recomputed from our own copy of the drafts and not from the backend's answers.

import { deepEqual as same } from 'node:assert/strict'
import { hex, utf8 } from '../../model/bytes.ts'
import { eventDigest, GENESIS, linkHash, payloadDigest } from '../../model/chain.ts'
import type { EventDraft } from '../../model/event.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Backend } from '../../ports/backend.ts'
import { group } from '../case.ts'
import { keyOf, MAIN, OTHER, sha256 } from '../material.ts'
import { readAll } from '../picture.ts'
import { save, saved, seqsOf } from './expect.ts'

const a = group('chain')

const linked = 'every event is linked to the one before'
const gapless = 'seqs begin at one and have no gap'
const head = 'the head is the last event'
const kept = 'an event is kept as it was sent'

/** Compares the journal with the drafts it was made from. */
export async function checkChain(backend: Backend, tenant: TenantId, drafts: readonly EventDraft[]): Promise<void> {
  const events = await readAll(backend.journal, tenant)
  same(events.length, drafts.length, 'as many events as were sent')
  let previous = GENESIS
  drafts.forEach((draft, i) => {
    const event = events[i]
    const digest = payloadDigest(sha256, draft.salt, draft.payload)
    const hash = linkHash(sha256, previous, i + 1, eventDigest(sha256, tenant, draft, digest))
    same(event && [event.seq, hex(event.digest), hex(event.hash)], [i + 1, hex(digest), hex(hash)], `the link of seq ${i + 1}`)
    previous = hash
  })
  const last = await backend.journal.head(tenant)
  same([last.seq, hex(last.hash)], [drafts.length, hex(previous)], 'the head')
}

export const chain = [
  a(linked, 'every hash is the one the format page says', async ({ backend, make }) => {
    const drafts = Array.from({ length: 7 }, (_, i) => make.draft(MAIN, { payload: JSON.stringify({ i, text: 'ä€😀' }) }))
    await backend.commit([make.commit(MAIN, { events: drafts.slice(0, 1) }), make.commit(MAIN, { events: drafts.slice(1, 4) })])
    await save(backend, make.commit(MAIN, { events: drafts.slice(4) }))
    await checkChain(backend, MAIN, drafts)
  }),

  a(linked, 'receipts carry the hash of their event', async ({ backend, make }) => {
    const outcomes = await backend.commit([...make.commits(MAIN, 3), ...make.commits(OTHER, 2)])
    const told = outcomes.flatMap((o) => saved(o)).map((r) => `${r.tenant} ${r.seq} ${r.id} ${r.hash}`)
    const held: string[] = []
    for (const tenant of [MAIN, OTHER])
      held.push(...(await readAll(backend.journal, tenant)).map((e) => `${tenant} ${e.seq} ${e.id} ${hex(e.hash)}`))
    same(told, held)
  }),

  a(linked, 'two tenants have two chains', async ({ backend, make }) => {
    const mine = Array.from({ length: 3 }, () => make.draft(MAIN))
    const theirs = Array.from({ length: 3 }, () => make.draft(OTHER))
    for (let i = 0; i < 3; i++) {
      await backend.commit([make.commit(MAIN, { events: mine.slice(i, i + 1) }), make.commit(OTHER, { events: theirs.slice(i, i + 1) })])
    }
    await checkChain(backend, MAIN, mine)
    await checkChain(backend, OTHER, theirs)
  }),

  a(gapless, 'seqs are one, two, three, whatever was refused or repeated in between', async ({ backend, make }) => {
    const key = keyOf(MAIN, 'k')
    await save(backend, make.commit(MAIN, { key }))
    await backend.commit([
      make.commit(MAIN, { guards: [{ kind: 'row', table: 'names', id: 'n', revision: 4 }] }),
      make.commit(MAIN, { key }),
      make.commit(MAIN),
    ])
    await save(backend, make.commit(MAIN, { events: [make.draft(MAIN), make.draft(MAIN)] }))
    same(await seqsOf(backend, MAIN), [1, 2, 3, 4])
  }),

  a(head, 'a tenant nobody has written to is at zero, with a hash of zeros', async ({ backend }) => {
    const { seq, hash } = await backend.journal.head(MAIN)
    same([seq, hex(hash)], [0, '00'.repeat(32)])
  }),

  a(head, 'the head moves with every event and is the last one', async ({ backend, make }) => {
    for (let i = 1; i <= 4; i++) {
      const receipts = await save(backend, make.commit(MAIN, { events: Array.from({ length: i }, () => make.draft(MAIN)) }))
      const { seq, hash } = await backend.journal.head(MAIN)
      same([seq, hex(hash)], [receipts.at(-1)?.seq, receipts.at(-1)?.hash])
    }
  }),

  a(kept, 'every member of a header is read as it was written', async ({ backend, make }) => {
    const full = make.draft(MAIN, {
      type: 'plan.changed',
      at: 1,
      class: 1,
      actor: 'user_~!1',
      session: make.id<'session'>(),
      run: make.id<'run'>(),
      subject: make.id(),
      cause: make.id<'event'>(),
      key: keyOf(MAIN, 'k').digest,
    })
    const bare = make.draft(MAIN, { at: 0 })
    await save(backend, make.commit(MAIN, { events: [full, bare] }))
    const events = await readAll(backend.journal, MAIN)
    ;[full, bare].forEach((draft, i) => {
      const e = events[i]
      same(
        e && [
          e.id,
          e.at,
          e.type,
          e.schema,
          e.class,
          e.actor,
          e.session,
          e.run,
          e.subject,
          e.cause,
          e.key && hex(e.key),
          e.salt && hex(e.salt),
        ],
        [
          draft.id,
          draft.at,
          draft.type,
          draft.schema,
          draft.class,
          draft.actor,
          draft.session,
          draft.run,
          draft.subject,
          draft.cause,
          draft.key && hex(draft.key),
          hex(draft.salt),
        ],
      )
    })
  }),

  a(kept, 'a payload is kept byte for byte, whatever alphabet it is in', async ({ backend, make }) => {
    const texts = [
      '""',
      '"ä€😀\u{10FFFF}\uE000"',
      '"\\u0000\\ud83d"',
      '{"b":1,"a":2,"b ":1.0,"e":1E2}',
      '  [1,\n2 ]\t',
      '"\u2028\u00a0\ufeff"',
      '0',
    ]
    const drafts = texts.map((payload) => make.draft(MAIN, { payload }))
    await save(backend, make.commit(MAIN, { events: drafts }))
    same(
      (await readAll(backend.journal, MAIN)).map((e) => e.payload && hex(e.payload)),
      texts.map((text) => hex(utf8(text))),
    )
    await checkChain(backend, MAIN, drafts)
  }),

  a(kept, 'a payload of 256 KiB is kept whole', async ({ backend, make }) => {
    const drafts = ['x', 'é', '😀'].map((letter) => {
      const unit = utf8(letter).length
      return make.draft(MAIN, { payload: `"${letter.repeat(Math.floor((256 * 1024 - 2) / unit))}"` })
    })
    await save(backend, make.commit(MAIN, { events: drafts }))
    const events = await readAll(backend.journal, MAIN)
    drafts.forEach((draft, i) => {
      same(events[i]?.payload?.length, utf8(draft.payload).length)
      same(hex(sha256(events[i]?.payload ?? new Uint8Array())), hex(sha256(utf8(draft.payload))))
    })
    await checkChain(backend, MAIN, drafts)
  }),
]
