// Damage to closing tenants and bringing them back.

import { InkError } from '../../../src/model/errors.ts'
import type { TenantId } from '../../../src/model/ids.ts'
import type { StoredRow } from '../../../src/model/rows.ts'
import type { TenantState } from '../../../src/model/tenant.ts'
import type { Backend } from '../../../src/ports/backend.ts'
import type { Commit, Outcome } from '../../../src/ports/commit.ts'
import { type Sabotage, spoiled } from './spoil.ts'

const shut = 'a tenant that is not active takes no commit'
const silent = 'a tenant that is not active shows nothing but its head'
const told = 'a state is set by the commit whose event says so'
const final = 'a deleted tenant stays deleted'

const turnOf = (commit: Commit): TenantState | undefined => commit.changes.find((change) => change.kind === 'state')?.state

const withoutState = (commit: Commit): Commit => ({ ...commit, changes: commit.changes.filter((change) => change.kind !== 'state') })

const oneByOne =
  (send: (backend: Backend, commit: Commit) => Promise<Outcome>) =>
  (backend: Backend): Backend => ({
    ...backend,
    commit: async (batch) => {
      const outcomes: Outcome[] = []
      for (const commit of batch) outcomes.push(await send(backend, commit))
      return outcomes
    },
  })

const alone = async (backend: Backend, commit: Commit): Promise<Outcome> => (await backend.commit([commit]))[0] as Outcome

const isClosed = (error: unknown): boolean => error instanceof InkError && error.code === 'TENANT_CLOSED'

/** Answers with this where the tenant is closed. */
const instead =
  <T>(value: T) =>
  (error: unknown): T => {
    if (isClosed(error)) return value
    throw error
  }

export const stateSabotages: readonly Sabotage[] = [
  spoiled('never closes a tenant', [shut, silent, told, final], (backend) => ({
    ...backend,
    commit: (batch) => backend.commit(batch.map(withoutState)),
  })),
  spoiled(
    'takes commits for a suspended tenant',
    [shut, silent, told],
    oneByOne(async (backend, commit) => {
      const { state } = await backend.journal.head(commit.tenant)
      const lifted = state === 'suspended' && turnOf(commit) === undefined
      return alone(backend, lifted ? { ...commit, changes: [...commit.changes, { kind: 'state', state }] } : commit)
    }),
  ),
  spoiled('lets a tenant come back only once the batch is over', [shut], (backend) => ({
    ...backend,
    commit: async (batch) => {
      const isLate = (commit: Commit, i: number): boolean => i > 0 && turnOf(commit) === 'active'
      const outcomes = [...(await backend.commit(batch.map((commit, i) => (isLate(commit, i) ? withoutState(commit) : commit))))]
      for (const [i, commit] of batch.entries()) if (isLate(commit, i)) outcomes[i] = await alone(backend, commit)
      return outcomes
    },
  })),
  spoiled('drops the rows of a tenant that is suspended', [shut, silent], (backend) => ({
    ...backend,
    commit: (batch) =>
      backend.commit(
        batch.map((commit) =>
          turnOf(commit) === 'suspended'
            ? { ...commit, changes: [...commit.changes, { kind: 'remove', table: 'names', id: 'n' }] }
            : commit,
        ),
      ),
  })),
  spoiled('pages through what is closed', [silent, shut], (backend) => ({
    ...backend,
    journal: {
      ...backend.journal,
      page: (tenant, query) => backend.journal.page(tenant, query).catch(instead({ events: [], through: 0, more: false })),
    },
  })),
  spoiled('gets rows of what is closed', [silent, shut], (backend) => ({
    ...backend,
    rows: { ...backend.rows, get: (tenant, table, id) => backend.rows.get(tenant, table, id).catch(instead(undefined)) },
  })),
  spoiled('gets several rows of what is closed', [silent, shut], (backend) => ({
    ...backend,
    rows: { ...backend.rows, getMany: (tenant, keys) => backend.rows.getMany(tenant, keys).catch(instead(keys.map(() => undefined))) },
  })),
  spoiled('lists rows of what is closed', [silent, shut], (backend) => ({
    ...backend,
    rows: { ...backend.rows, list: (tenant, table, query) => backend.rows.list(tenant, table, query).catch(instead({ rows: [] })) },
  })),
  spoiled('counts what is closed', [silent, shut], (backend) => ({
    ...backend,
    queries: { ...backend.queries, usageByType: (tenant) => backend.queries.usageByType(tenant).catch(instead([])) },
  })),
  spoiled('takes pictures of what is closed', [silent, shut], (backend) => ({
    ...backend,
    upkeep: {
      ...backend.upkeep,
      snapshot: (tenant) =>
        backend.upkeep.snapshot(tenant).catch(instead({ journal: backend.journal, rows: async () => [], close: async () => {} })),
    },
  })),
  spoiled('leaves closed tenants out of the list', [silent, told], (backend) => ({
    ...backend,
    journal: {
      ...backend.journal,
      tenants: async () => {
        const open: TenantId[] = []
        for (const tenant of await backend.journal.tenants()) if ((await backend.journal.head(tenant)).state === 'active') open.push(tenant)
        return open
      },
    },
  })),
  spoiled('says of every head that it is active', [silent, told, final], (backend) => ({
    ...backend,
    journal: { ...backend.journal, head: async (tenant) => ({ ...(await backend.journal.head(tenant)), state: 'active' }) },
  })),
  spoiled('shows from memory what it read before the tenant was closed', [silent], (backend) => {
    const seen = new Map<string, StoredRow | undefined>()
    return {
      ...backend,
      rows: {
        ...backend.rows,
        get: async (tenant, table, id) => {
          const place = `${tenant}/${table}/${id}`
          const row = await backend.rows.get(tenant, table, id).catch((error) => {
            if (!isClosed(error) || !seen.has(place)) throw error
            return seen.get(place)
          })
          seen.set(place, row)
          return row
        },
      },
    }
  }),
  spoiled(
    'sets the state of a refused commit',
    [told],
    oneByOne(async (backend, commit) => {
      const outcome = await alone(backend, commit)
      if (!outcome.ok && typeof outcome.refused === 'object' && turnOf(commit)) await alone(backend, { ...commit, guards: [] })
      return outcome
    }),
  ),
  spoiled(
    'refuses to close whom it does not know',
    [told],
    oneByOne(async (backend, commit) => {
      const { seq, state } = await backend.journal.head(commit.tenant)
      return seq === 0 && turnOf(commit) ? { ok: false, refused: 'tenant', found: state, now: 0 } : alone(backend, commit)
    }),
  ),
  spoiled(
    'keeps changes of state from being sent again',
    [told],
    oneByOne((backend, { since, ...commit }) => alone(backend, turnOf(commit) || since === undefined ? commit : { ...commit, since })),
  ),
  spoiled(
    'suspends where it should delete',
    [final, silent, told],
    oneByOne((backend, commit) =>
      alone(backend, turnOf(commit) === 'deleted' ? { ...commit, changes: [{ kind: 'state', state: 'suspended' }] } : commit),
    ),
  ),
]
