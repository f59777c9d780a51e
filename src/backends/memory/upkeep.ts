// Maintenance of a store that lives only as long as its process.

import { hex, sameBytes } from '../../model/bytes.ts'
import { GENESIS } from '../../model/chain.ts'
import { compareText } from '../../model/order.ts'
import type { ScannedRow } from '../../model/rows.ts'
import { type TableName, tableNames, tableOf } from '../../model/tables.ts'
import type { Entropy } from '../../ports/environment.ts'
import type { Scratch, Upkeep } from '../../ports/upkeep.ts'
import { applyChange } from './commit.ts'
import { journalReads } from './journal.ts'
import { toStored } from './rows.ts'
import { activeTenant, emptyRows, emptyState, emptyTenant, type MemoryRows, type MemoryState, tableRows } from './state.ts'

const folded = new WeakMap<Scratch, MemoryRows>()

export function upkeep(state: MemoryState, entropy: Entropy): Upkeep {
  return {
    snapshot: async (tenant) => {
      const now = activeTenant(state, tenant)
      const still = { ...now, events: [...now.events], rows: copyRows(now.rows) }
      return {
        journal: journalReads({ ...emptyState(), tenants: new Map([[tenant, still]]) }),
        rows: async (table, after, limit) => inOrder(still.rows, table, after, limit),
        close: async () => {},
      }
    },
    scratch: async () => {
      const rows = emptyRows()
      const scratch: Scratch = {
        get: async (table, id) => {
          const row = tableRows(rows, table).get(id)
          return row && toStored(row)
        },
        apply: async (seq, changes) => {
          for (const change of changes) applyChange(rows, change.kind === 'put' ? { ...change, event: 0 } : change, seq, () => {})
        },
        rows: async (table, after, limit) => inOrder(rows, table, after, limit),
        close: async () => {},
      }
      folded.set(scratch, rows)
      return scratch
    },
    adopt: async (id, scratch, head) => {
      const tenant = state.tenants.get(id) ?? emptyTenant()
      const rows = folded.get(scratch)
      const last = tenant.events.at(-1)
      if (!rows || (last?.seq ?? 0) !== head.seq || !sameBytes(last?.hash ?? GENESIS, head.hash)) return false
      for (const table of tableNames) if (tableOf(table).authority === 'journal') tenant.rows.set(table, tableRows(rows, table))
      return true
    },
    check: async () => [],
    measure: async () => ({
      bytes: {},
      rows: {
        events: [...state.tenants.values()].reduce((sum, t) => sum + t.events.length, 0),
        nodes: [...state.tenants.values()].reduce((sum, t) => sum + t.nodes.size, 0),
        blobs: [...state.tenants.values()].reduce((sum, t) => sum + t.blobs.size, 0),
        ...Object.fromEntries(
          tableNames.map((name) => [name, [...state.tenants.values()].reduce((sum, t) => sum + tableRows(t.rows, name).size, 0)]),
        ),
      },
    }),
    health: async () => ({ ok: true, ready: true, why: [] }),
    receipts: async (tenant, after, limit) =>
      [...activeTenant(state, tenant).receipts]
        .filter(([key]) => after === undefined || key > hex(after))
        .sort(([a], [b]) => compareText(a, b))
        .slice(0, limit)
        .map(([, receipt]) => receipt),
    sweepReceipts: async (before) => {
      let swept = 0
      for (const { receipts, renewals } of state.tenants.values()) {
        for (const [key, receipt] of receipts) if (receipt.at < before && receipts.delete(key)) swept++
        for (const [id, { until }] of renewals) if (until < before) renewals.delete(id)
      }
      return swept
    },
    scrub: async () => {},
    secret: async (name) => {
      const secret = state.secrets.get(name) ?? new Uint8Array(entropy.bytes(32))
      state.secrets.set(name, secret)
      return secret
    },
  }
}

const copyRows = (rows: MemoryRows): MemoryRows => new Map([...rows].map(([table, byId]) => [table, new Map(byId)]))

function inOrder(rows: MemoryRows, table: TableName, after: string | undefined, limit: number): readonly ScannedRow[] {
  return [...tableRows(rows, table).values()]
    .filter((row) => after === undefined || compareText(row.id, after) > 0)
    .sort((a, b) => compareText(a.id, b.id))
    .slice(0, limit)
}
