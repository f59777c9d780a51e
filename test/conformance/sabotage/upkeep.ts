// Damage to looking after a store.

import { randomBytes } from 'node:crypto'
import type { Backend } from '../../../src/ports/backend.ts'
import type { Scratch, Upkeep } from '../../../src/ports/upkeep.ts'
import { type Sabotage, spoiled } from './spoil.ts'

const still = 'a snapshot stays still while others write'
const folded = 'rows folded beside the store are stamped as a commit stamps them'
const adopted = 'folded rows are put in place all at once, or not at all'
const listed = 'the receipts of a tenant are listed by key, each with its digest'
const swept = 'a key is remembered until its receipt is swept'
const lapsed = 'a sweep forgets what ran out before it, and nothing else that is held'
const counted = 'a store says how much it holds'
const sound = 'a store nobody has damaged is sound'

const keeping =
  (alter: (upkeep: Upkeep, backend: Backend) => Partial<Upkeep>) =>
  (backend: Backend): Backend => ({ ...backend, upkeep: { ...backend.upkeep, ...alter(backend.upkeep, backend) } })

export const upkeepSabotages: readonly Sabotage[] = [
  spoiled(
    'takes snapshots that move',
    [still],
    keeping((upkeep, backend) => ({
      snapshot: async (tenant) => ({
        journal: backend.journal,
        rows: async (table, after, limit) => {
          const now = await upkeep.snapshot(tenant)
          const rows = await now.rows(table, after, limit)
          await now.close()
          return rows
        },
        close: async () => {},
      }),
    })),
  ),
  spoiled(
    'gives the rows of a snapshot in another order',
    [still],
    keeping((upkeep) => ({
      snapshot: async (tenant) => {
        const snapshot = await upkeep.snapshot(tenant)
        return { ...snapshot, rows: async (table, after, limit) => (await snapshot.rows(table, after, limit)).toReversed() }
      },
    })),
  ),
  spoiled(
    'shows another tenant in a snapshot',
    ['what one tenant has another neither sees nor touches'],
    keeping((upkeep, backend) => ({
      snapshot: async (tenant) => upkeep.snapshot((await backend.journal.tenants()).at(-1) ?? tenant),
    })),
  ),
  spoiled(
    'stamps folded rows with nothing',
    [folded],
    keeping((upkeep) => ({
      scratch: async () => {
        const scratch = await upkeep.scratch()
        const spoilt: Scratch = { ...scratch, apply: (_, changes) => scratch.apply(0, changes) }
        return spoilt
      },
    })),
  ),
  spoiled(
    'adopts whatever the head is',
    [adopted],
    keeping((upkeep, backend) => ({
      adopt: async (tenant, scratch) => upkeep.adopt(tenant, scratch, await backend.journal.head(tenant)),
    })),
  ),
  spoiled(
    'adopts under another hash',
    [adopted],
    keeping((upkeep, backend) => ({
      adopt: async (tenant, scratch, { seq }) => upkeep.adopt(tenant, scratch, { seq, hash: (await backend.journal.head(tenant)).hash }),
    })),
  ),
  spoiled(
    'says that it adopted and does not',
    [adopted],
    keeping(() => ({ adopt: async () => true })),
  ),
  spoiled(
    'adopts for every tenant',
    [adopted],
    keeping((upkeep, backend) => ({
      adopt: async (tenant, scratch, head) => {
        for (const other of await backend.journal.tenants())
          if (other !== tenant) await upkeep.adopt(other, scratch, await backend.journal.head(other))
        return upkeep.adopt(tenant, scratch, head)
      },
    })),
  ),
  spoiled(
    'forgets receipts when it adopts',
    [adopted],
    keeping((upkeep) => ({
      adopt: async (tenant, scratch, head) => {
        await upkeep.sweepReceipts(Number.MAX_SAFE_INTEGER)
        return upkeep.adopt(tenant, scratch, head)
      },
    })),
  ),
  spoiled(
    'lists receipts in another order',
    [listed],
    keeping((upkeep) => ({ receipts: async (tenant, after, limit) => (await upkeep.receipts(tenant, after, limit)).toReversed() })),
  ),
  spoiled(
    'lists receipts whose digest leaves a column out',
    [listed],
    keeping((upkeep) => ({
      receipts: async (...of) => (await upkeep.receipts(...of)).map((receipt) => ({ ...receipt, at: receipt.at + 1 })),
    })),
  ),
  spoiled(
    'sweeps nothing',
    [swept, lapsed],
    keeping(() => ({ sweepReceipts: async () => 0 })),
  ),
  spoiled(
    'sweeps everything',
    [swept, lapsed],
    keeping((upkeep) => ({ sweepReceipts: () => upkeep.sweepReceipts(Number.MAX_SAFE_INTEGER) })),
  ),
  spoiled(
    'makes a secret each time',
    ['a secret is made once', 'several handles are one store'],
    keeping(() => ({ secret: async () => randomBytes(32) })),
  ),
  spoiled(
    'has one secret for every name',
    ['a secret is made once'],
    keeping((upkeep) => ({ secret: () => upkeep.secret('any') })),
  ),
  spoiled(
    'counts wrongly',
    [counted],
    keeping((upkeep) => ({
      measure: async () => {
        const { bytes, rows } = await upkeep.measure()
        return { bytes, rows: Object.fromEntries(Object.entries(rows).map(([table, count]) => [table, count + 1])) }
      },
    })),
  ),
  spoiled('lists usage in no order', [counted], (backend) => ({
    ...backend,
    queries: { ...backend.queries, usageByType: async (tenant) => (await backend.queries.usageByType(tenant)).toReversed() },
  })),
  spoiled('counts what was erased as if it were there', ['erasing leaves everything but payload and salt'], (backend) => ({
    ...backend,
    queries: {
      ...backend.queries,
      usageByType: async (tenant) => (await backend.queries.usageByType(tenant)).map((usage) => ({ ...usage, erased: 0 })),
    },
  })),
  spoiled(
    'finds damage where there is none',
    [sound],
    keeping(() => ({ check: async () => ['page 7 is torn'] })),
  ),
]
