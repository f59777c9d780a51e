// Guards: a row at its revision, a session without new events, a fence that is the newest.

import { deepEqual as same } from 'node:assert/strict'
import type { SessionId } from '../../model/ids.ts'
import type { Guard } from '../../ports/commit.ts'
import { type Bench, group } from '../case.ts'
import { MAIN, OTHER, put } from '../material.ts'
import { changesNothing, refused, save, send } from './expect.ts'

const a = group('guards')

const rows = 'a commit that is guarded by a row is refused when the row is at another revision'
const quiet = 'a commit that is guarded by a quiet session is refused when someone wrote to it'
const fences = 'a commit that is guarded by a fence is refused when another one is the newest'

const row = (revision: number, id = 'n'): Guard => ({ kind: 'row', table: 'names', id, revision })
const fence = (held: number): Guard => ({ kind: 'fence', table: 'leases', id: 'l', fence: held })
const after = (session: SessionId, seq: number): Guard => ({ kind: 'quiet', session, after: seq })

const holds = ({ backend, make }: Bench, guard: Guard) => save(backend, make.commit(MAIN, { guards: [guard] }))
const fails = ({ backend, make }: Bench, guard: Guard, found: number) =>
  changesNothing(backend, [MAIN], async () => refused(await send(backend, make.commit(MAIN, { guards: [guard] })), guard, found))

export const guards = [
  a(rows, 'a row that is absent is at revision zero', async (bench) => {
    await fails(bench, row(1), 0)
    await holds(bench, row(0))
  }),

  a(rows, 'a row is at the revision of its last change and at no other', async (bench) => {
    const { backend, make } = bench
    await save(backend, make.commit(MAIN, { changes: [put('names', 'n')] }))
    await holds(bench, row(1))
    await fails(bench, row(0), 1)
    await fails(bench, row(2), 1)
    await save(backend, make.commit(MAIN, { changes: [put('names', 'n')] }))
    await fails(bench, row(1), 3)
    await holds(bench, row(3))
  }),

  a(rows, 'a row that was removed is absent again', async (bench) => {
    const { backend, make } = bench
    await save(backend, make.commit(MAIN, { changes: [put('names', 'n')] }))
    await save(backend, make.commit(MAIN, { changes: [{ kind: 'remove', table: 'names', id: 'n' }] }))
    await fails(bench, row(1), 0)
    await holds(bench, row(0))
  }),

  a(rows, 'a guard looks at its own table, id and tenant', async (bench) => {
    const { backend, make } = bench
    await save(backend, make.commit(MAIN, { changes: [put('sessions', 'n'), put('names', 'N'), put('names', 'n ')] }))
    await save(backend, make.commit(OTHER, { changes: [put('names', 'n')] }))
    await holds(bench, row(0))
    await fails(bench, row(0, 'N'), 1)
  }),

  a(quiet, 'a session nobody wrote to is quiet since zero', async (bench) => {
    const { backend, make } = bench
    const session = make.id<'session'>()
    await holds(bench, after(session, 0))
    await save(backend, make.commit(MAIN, { events: [make.draft(MAIN, { session })] }))
    await fails(bench, after(session, 0), 2)
  }),

  a(quiet, 'a session is quiet since its last event and since any later seq', async (bench) => {
    const { backend, make } = bench
    const session = make.id<'session'>()
    await backend.commit(make.commits(MAIN, 3, () => ({ session })))
    await fails(bench, after(session, 2), 3)
    await holds(bench, after(session, 3))
    await holds(bench, after(session, 99))
  }),

  a(quiet, 'writes to other sessions, to none and in other tenants do not matter', async (bench) => {
    const { backend, make } = bench
    const [session, other] = [make.id<'session'>(), make.id<'session'>()]
    await save(backend, make.commit(MAIN, { events: [make.draft(MAIN, { session })] }))
    await backend.commit([
      make.commit(MAIN, { events: [make.draft(MAIN, { session: other })] }),
      make.commit(MAIN),
      ...make.commits(OTHER, 5, () => ({ session })),
    ])
    await holds(bench, after(session, 1))
    await fails(bench, after(other, 1), 2)
  }),

  a(fences, 'the newest fence holds and an older one is lost', async (bench) => {
    const { backend, make } = bench
    const grant = () => save(backend, make.commit(MAIN, { changes: [put('leases', 'l', { owner: 'ada' }, { grants: true })] }))
    await grant()
    await holds(bench, fence(1))
    await grant()
    await fails(bench, fence(1), 3)
    await fails(bench, fence(4), 3)
    await holds(bench, fence(3))
  }),

  a(fences, 'what nobody holds has no fence', async (bench) => {
    const { backend, make } = bench
    await fails(bench, fence(1), 0)
    await save(backend, make.commit(MAIN, { changes: [put('leases', 'l')] }))
    await fails(bench, fence(1), 0)
    same((await backend.rows.get(MAIN, 'leases', 'l'))?.fence, undefined)
    await holds(bench, fence(0))
  }),

  a(fences, 'a change that grants nothing leaves the fence as it is', async (bench) => {
    const { backend, make } = bench
    await save(backend, make.commit(MAIN, { changes: [put('leases', 'l', { owner: 'ada' }, { grants: true })] }))
    await save(backend, make.commit(MAIN, { changes: [put('leases', 'l', { owner: 'ada', until: 9 })] }))
    same(await backend.rows.get(MAIN, 'leases', 'l'), { id: 'l', born: 1, revision: 2, fence: 1, body: '{"owner":"ada","until":9}' })
    await holds(bench, fence(1))
    await fails(bench, fence(2), 1)
  }),

  a(fences, 'a lease that was removed and granted again has a greater fence', async (bench) => {
    const { backend, make } = bench
    const grant = put('leases', 'l', {}, { grants: true })
    await save(backend, make.commit(MAIN, { changes: [grant] }))
    await save(backend, make.commit(MAIN, { changes: [{ kind: 'remove', table: 'leases', id: 'l' }] }))
    await fails(bench, fence(1), 0)
    await save(backend, make.commit(MAIN, { changes: [grant] }))
    await fails(bench, fence(1), 3)
    await holds(bench, fence(3))
  }),
]
