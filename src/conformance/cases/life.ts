// Closing, reopening and sharing: acknowledged commits are kept, and several handles are one store.

import { rejects, deepEqual as same } from 'node:assert/strict'
import { hex } from '../../model/bytes.ts'
import { group } from '../case.ts'
import { keyOf, MAIN, OTHER, put } from '../material.ts'
import { picture } from '../picture.ts'
import { refused, save, saved, send, seqsOf } from './expect.ts'

const a = group('life')

const closed = 'a closed backend writes nothing'
const kept = 'what was acknowledged is there after opening again'
const shared = 'several handles are one store'

export const life = [
  a(closed, 'a commit after closing is refused with STORE_CLOSED', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN))
    await backend.close()
    await rejects(backend.commit([make.commit(MAIN)]), { code: 'STORE_CLOSED' })
  }),

  a(closed, 'closing twice is closing once', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN))
    await backend.close()
    await backend.close()
    await rejects(backend.commit([make.commit(MAIN)]), { code: 'STORE_CLOSED' })
  }),

  a(
    kept,
    'opening again shows the same, byte for byte',
    async ({ backend, make, reopen }) => {
      const session = make.id<'session'>()
      await backend.commit(make.commits(MAIN, 20, (i) => ({ session, payload: JSON.stringify({ i, text: 'ä€😀' }) })))
      await save(backend, make.commit(MAIN, { events: [make.draft(MAIN, { payload: `"${'x'.repeat(256 * 1024 - 2)}"` })] }))
      await save(backend, make.commit(MAIN, { changes: [put('names', '\u{1F600}', { target: 't' }), { kind: 'erase', seqs: [4] }] }))
      await save(backend, make.commit(OTHER, { changes: [put('leases', 'l', { owner: 'o' }, { grants: true })] }))
      const before = await picture(backend, [MAIN, OTHER])
      const usage = await backend.queries.usageByType(MAIN)
      const again = await reopen()
      same(await picture(again, [MAIN, OTHER]), before)
      same(await again.queries.usageByType(MAIN), usage)
      same((await save(again, make.commit(MAIN, { guards: [{ kind: 'row', table: 'names', id: '\u{1F600}', revision: 22 }] })))[0]?.seq, 23)
    },
    'reopen',
  ),

  a(
    kept,
    'keys, fences and secrets outlive the handle',
    async ({ backend, make, reopen }) => {
      const key = keyOf(MAIN, 'k')
      const lease = put('leases', 'l', {}, { grants: true })
      const first = await save(backend, make.commit(MAIN, { key, changes: [lease] }))
      const secret = hex(await backend.upkeep.secret('one'))
      const again = await reopen()
      same(saved(await send(again, make.commit(MAIN, { key })), true), first)
      refused(await send(again, make.commit(MAIN, { key: keyOf(MAIN, 'k', 'other') })), 'key', { seq: 1, erased: false })
      same(hex(await again.upkeep.secret('one')), secret)
      await save(again, make.commit(MAIN, { guards: [{ kind: 'fence', table: 'leases', id: 'l', fence: 1 }] }))
    },
    'reopen',
  ),

  a(
    shared,
    'two handles write one chain, and each sees what the other wrote',
    async ({ backend, make, second }) => {
      const other = await second()
      const key = keyOf(MAIN, 'k')
      const first = await save(backend, make.commit(MAIN, { key, changes: [put('names', 'n')] }))
      same(saved(await send(other, make.commit(MAIN, { key })), true), first)
      const guard = { kind: 'row', table: 'names', id: 'n', revision: 0 } as const
      refused(await send(other, make.commit(MAIN, { guards: [guard] })), guard, 1)
      for (let i = 0; i < 4; i++) await Promise.all([backend.commit(make.commits(MAIN, 2)), other.commit(make.commits(MAIN, 3))])
      same(
        await seqsOf(backend, MAIN),
        Array.from({ length: 21 }, (_, i) => i + 1),
      )
      same(await picture(other, [MAIN]), await picture(backend, [MAIN]))
    },
    'second',
  ),

  a(
    shared,
    'a secret that two handles ask for at once is one secret',
    async ({ backend, second }) => {
      const other = await second()
      const [one, two] = await Promise.all([backend.upkeep.secret('one'), other.upkeep.secret('one')])
      same(hex(two), hex(one))
    },
    'second',
  ),

  a(
    shared,
    'a reply that was lost on one handle is found through another',
    async ({ backend, make, second }) => {
      const other = await second()
      const commit = make.commit(MAIN)
      const first = await save(backend, commit)
      same(saved(await send(other, { ...commit, since: 0 }), true), first)
    },
    'second',
  ),
]
