// Tenants that are closed and reopened: refused everywhere at once, and unchanged when they are resumed.

import { rejects, deepEqual as same } from 'node:assert/strict'
import { type TenantId, tenantId } from '../../model/ids.ts'
import type { TenantState } from '../../model/tenant.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Commit } from '../../ports/commit.ts'
import { group } from '../case.ts'
import { keyOf, MAIN, type Maker, OTHER, put } from '../material.ts'
import { picture, readAll } from '../picture.ts'
import { changesNothing, refused, save, saved, send } from './expect.ts'

const a = group('states')

const shut = 'a tenant that is not active takes no commit'
const silent = 'a tenant that is not active shows nothing but its head'
const told = 'a state is set by the commit whose event says so'
const final = 'a deleted tenant stays deleted'

/** Creates a commit that changes the tenant's state and records it. */
const turn = (make: Maker, tenant: TenantId, state: TenantState, rest: Partial<Commit> = {}): Commit =>
  make.commit(tenant, { events: [make.draft(tenant, { type: `tenant.now-${state}` })], ...rest, changes: [{ kind: 'state', state }] })

const stateOf = async (backend: Backend, tenant: TenantId): Promise<TenantState> => (await backend.journal.head(tenant)).state

const reads: Readonly<Record<string, (backend: Backend, tenant: TenantId) => Promise<unknown>>> = {
  page: (backend, tenant) => backend.journal.page(tenant, { from: 0, limit: 1 }),
  'page downwards': (backend, tenant) => backend.journal.page(tenant, { from: 9, limit: 9, backwards: true }),
  get: (backend, tenant) => backend.rows.get(tenant, 'names', 'n'),
  'get of nothing': (backend, tenant) => backend.rows.get(tenant, 'names', 'nothing'),
  'get of several': (backend, tenant) =>
    backend.rows.getMany(tenant, [
      { table: 'names', id: 'n' },
      { table: 'names', id: 'nothing' },
    ]),
  'get of none': (backend, tenant) => backend.rows.getMany(tenant, []),
  list: (backend, tenant) => backend.rows.list(tenant, 'names', { index: 'byTarget', equals: [], limit: 9 }),
  'list of nothing': (backend, tenant) => backend.rows.list(tenant, 'leases', { index: 'byOwner', equals: ['nobody'], limit: 9 }),
  usage: (backend, tenant) => backend.queries.usageByType(tenant),
  snapshot: (backend, tenant) => backend.upkeep.snapshot(tenant),
}

async function showsNothing(backend: Backend, tenant: TenantId, state: TenantState): Promise<void> {
  for (const [what, read] of Object.entries(reads)) {
    const error = { code: 'TENANT_CLOSED', details: { tenant, state } }
    await rejects(read(backend, tenant), error, `${what} is refused while the tenant is ${state}`)
  }
}

export const states = [
  a(shut, 'a suspended tenant refuses every commit, whatever it holds, and its neighbours go on', async ({ backend, make }) => {
    const key = keyOf(MAIN, 'k')
    const first = make.commit(MAIN, { key, changes: [put('names', 'n')] })
    await save(backend, first)
    await save(backend, make.commit(OTHER))
    await save(backend, turn(make, MAIN, 'suspended'))
    const guard = { kind: 'row', table: 'names', id: 'n', revision: 7 } as const
    const tried = [
      make.commit(MAIN),
      first,
      make.commit(MAIN, { key, events: [] }),
      make.commit(MAIN, { guards: [guard] }),
      make.commit(MAIN, { events: [], changes: [{ kind: 'remove', table: 'names', id: 'n' }] }),
      make.commit(MAIN, { changes: [{ kind: 'erase', seqs: [1] }] }),
    ]
    await changesNothing(backend, [MAIN], async () => {
      for (const commit of tried) refused(await send(backend, commit), 'tenant', 'suspended')
      const outcomes = await backend.commit([...tried, make.commit(OTHER)])
      for (const outcome of outcomes.slice(0, -1)) refused(outcome, 'tenant', 'suspended')
      saved(outcomes.at(-1))
    })
  }),

  a(shut, 'a commit sees the state that those before it in its batch left', async ({ backend, make }) => {
    const before = make.commit(MAIN)
    const outcomes = await backend.commit([
      before,
      turn(make, MAIN, 'suspended'),
      make.commit(MAIN),
      make.commit(OTHER),
      turn(make, MAIN, 'active'),
      make.commit(MAIN),
    ])
    refused(outcomes[2], 'tenant', 'suspended')
    same(
      [0, 1, 4, 5].map((i) => saved(outcomes[i])[0]?.seq),
      [1, 2, 3, 4],
    )
    saved(outcomes[3])
    same(await stateOf(backend, MAIN), 'active')
  }),

  a(shut, 'a tenant that comes back is as it was, and its chain goes on', async ({ backend, make }) => {
    const key = keyOf(MAIN, 'k')
    const session = make.id<'session'>()
    const events = [make.draft(MAIN, { session })]
    const changes = [put('names', 'n', { target: 't' }), put('leases', 'l', {}, { grants: true })]
    const first = await save(backend, make.commit(MAIN, { key, events, changes }))
    const rows = (await picture(backend, [MAIN])).filter((line) => line.includes('revision='))
    await save(backend, turn(make, MAIN, 'suspended'))
    same((await save(backend, turn(make, MAIN, 'active')))[0]?.seq, 3)
    const after = await picture(backend, [MAIN])
    same(
      after.filter((line) => line.includes('revision=')),
      rows,
    )
    same(saved(await send(backend, make.commit(MAIN, { key })), true), first)
    const guards = [
      { kind: 'quiet', session, after: 1 },
      { kind: 'fence', table: 'leases', id: 'l', fence: 1 },
    ] as const
    same((await save(backend, make.commit(MAIN, { guards })))[0]?.seq, 4)
    same(
      (await readAll(backend.journal, MAIN)).map((e) => e.type),
      ['note.made', 'tenant.now-suspended', 'tenant.now-active', 'note.made'],
    )
  }),

  a(silent, 'no read of a closed tenant is answered, whether there is something to read or not', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN, { changes: [put('names', 'n', { target: 't' })] }))
    await save(backend, make.commit(OTHER, { changes: [put('names', 'n', { target: 't' })] }))
    for (const state of ['suspended', 'deleted'] as const) {
      await save(backend, turn(make, MAIN, state))
      await showsNothing(backend, MAIN, state)
      for (const read of Object.values(reads).slice(0, -1)) await read(backend, OTHER)
    }
    await save(backend, turn(make, OTHER, 'suspended'))
    await save(backend, turn(make, OTHER, 'active'))
    for (const read of Object.values(reads).slice(0, -1)) await read(backend, OTHER)
    same((await readAll(backend.journal, OTHER)).length, 3)
  }),

  a(silent, 'the head and the list of tenants answer whatever the state', async ({ backend, make }) => {
    same(await stateOf(backend, MAIN), 'active', 'a tenant nobody has written to is active')
    await save(backend, make.commit(MAIN))
    await save(backend, make.commit(OTHER))
    same(await stateOf(backend, MAIN), 'active')
    for (const [state, seq] of [
      ['suspended', 2],
      ['active', 3],
      ['deleted', 4],
    ] as const) {
      const [receipt] = await save(backend, turn(make, MAIN, state))
      const head = await backend.journal.head(MAIN)
      same([head.state, head.seq, Buffer.from(head.hash).toString('hex')], [state, seq, receipt?.hash])
      same(await backend.journal.tenants(), [OTHER, MAIN])
      same(await stateOf(backend, OTHER), 'active')
    }
  }),

  a(told, 'a commit that is refused leaves the state as it was', async ({ backend, make }) => {
    const key = keyOf(MAIN, 'k')
    await save(backend, make.commit(MAIN, { key }))
    const guard = { kind: 'row', table: 'names', id: 'n', revision: 1 } as const
    await changesNothing(backend, [MAIN], async () => {
      refused(await send(backend, turn(make, MAIN, 'suspended', { guards: [guard] })), guard, 0)
      saved(await send(backend, turn(make, MAIN, 'suspended', { key })), true)
    })
    await save(backend, turn(make, MAIN, 'suspended'))
    refused(await send(backend, turn(make, MAIN, 'active', { guards: [guard] })), guard, 0)
    same(await stateOf(backend, MAIN), 'suspended')
  }),

  a(told, 'a change of state whose reply was lost is found when it is sent again', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN))
    for (const state of ['suspended', 'active', 'deleted'] as const) {
      const since = (await backend.journal.head(MAIN)).seq
      const commit = { ...turn(make, MAIN, state), since }
      const first = await save(backend, commit)
      same(saved(await send(backend, commit), true), first)
      same(await backend.journal.head(MAIN).then((head) => [head.seq, head.state]), [since + 1, state])
    }
  }),

  a(told, 'a tenant may be closed before its first write', async ({ backend, make }) => {
    const never = tenantId('never')
    same((await save(backend, turn(make, never, 'suspended')))[0]?.seq, 1)
    same(await backend.journal.tenants(), [never])
    refused(await send(backend, make.commit(never)), 'tenant', 'suspended')
  }),

  a(final, 'nothing leads away from deleted', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN))
    await save(backend, turn(make, MAIN, 'deleted'))
    await changesNothing(backend, [MAIN], async () => {
      for (const state of ['active', 'suspended'] as const) refused(await send(backend, turn(make, MAIN, state)), 'tenant', 'deleted')
      refused(await send(backend, make.commit(MAIN)), 'tenant', 'deleted')
    })
    const [, second] = await backend.commit([turn(make, OTHER, 'deleted'), turn(make, OTHER, 'active')])
    refused(second, 'tenant', 'deleted')
    same(await stateOf(backend, OTHER), 'deleted')
  }),

  a(
    silent,
    'what one handle closes is closed for another at once',
    async ({ backend, make, second }) => {
      const other = await second()
      await save(backend, make.commit(MAIN, { changes: [put('names', 'n', { target: 't' })] }))
      same((await other.rows.get(MAIN, 'names', 'n'))?.revision, 1)
      same((await readAll(other.journal, MAIN)).length, 1)
      await save(backend, turn(make, MAIN, 'suspended'))
      await showsNothing(other, MAIN, 'suspended')
      refused(await send(other, make.commit(MAIN)), 'tenant', 'suspended')
      await save(other, turn(make, MAIN, 'active'))
      same((await backend.rows.get(MAIN, 'names', 'n'))?.revision, 1)
    },
    'second',
  ),

  a(
    shut,
    'a closed tenant is closed after opening again',
    async ({ backend, make, reopen }) => {
      await save(backend, make.commit(MAIN))
      await save(backend, turn(make, MAIN, 'suspended'))
      const again = await reopen()
      refused(await send(again, make.commit(MAIN)), 'tenant', 'suspended')
      await showsNothing(again, MAIN, 'suspended')
      await save(again, turn(make, MAIN, 'active'))
      same((await save(again, make.commit(MAIN)))[0]?.seq, 4)
    },
    'reopen',
  ),
]
