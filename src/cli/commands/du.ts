// Shows disk usage: bytes on disk by part, rows by table, and events by type and tenant.

import type { Measure, Store, TypeUsage } from '../../index.ts'
import { EXIT, type Exit } from '../exit.ts'
import { bytes, count } from '../format.ts'
import { progress } from '../progress.ts'
import { tellClosed, tenantViews, withStore } from '../store.ts'
import { printTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { jsonLine } from '../text.ts'

export interface DuOptions {
  readonly tenant?: string
  readonly top?: number
}

interface TenantUsage {
  readonly tenant: string
  readonly events: number
  readonly bytes: number
  readonly erased: number
  readonly types: readonly TypeUsage[]
}

const TOP_BY_DEFAULT = 10

export function du(t: Terminal, url: string | undefined, options: DuOptions): Promise<Exit> {
  return withStore(url, async (store) => {
    const measure = await store.measure()
    const counting = progress(t, 'counting events')
    const tenants: TenantUsage[] = []
    const { views, closed } = await tenantViews(store, options.tenant)
    try {
      for (const view of views) {
        t.signal.throwIfAborted()
        tenants.push(await usageOf(view))
      }
    } finally {
      counting.end()
    }
    const total = Object.values(measure.bytes).reduce((sum, n) => sum + n, 0)
    if (t.json) t.out(jsonLine({ bytes: { ...measure.bytes, total }, rows: measure.rows, tenants, ...(closed.length > 0 && { closed }) }))
    else {
      tell(t, measure, total, tenants, options.top ?? TOP_BY_DEFAULT)
      tellClosed(t, closed)
    }
    return EXIT.fine
  })
}

async function usageOf(store: Store): Promise<TenantUsage> {
  const types = await store.types()
  const sum = (of: (u: TypeUsage) => number) => types.reduce((total, u) => total + of(u), 0)
  return { tenant: store.tenantId, events: sum((u) => u.events), bytes: sum((u) => u.bytes), erased: sum((u) => u.erased), types }
}

function tell(t: Terminal, measure: Measure, total: number, tenants: readonly TenantUsage[], top: number): void {
  printTable(
    t,
    [{ title: 'on disk', right: true }, { title: 'part' }],
    [...Object.entries(measure.bytes), ['total', total] as const].map(([part, n]) => [bytes(n), part]),
  )
  t.out('')
  printTable(
    t,
    [{ title: 'rows', right: true }, { title: 'table' }],
    Object.entries(measure.rows).map(([table, n]) => [count(n), table]),
  )
  if (tenants.length === 0) return
  t.out('')
  printTable(
    t,
    [
      { title: 'payload', right: true },
      { title: 'events', right: true },
      { title: 'erased', right: true },
      { title: 'tenant', style: 'bold' },
    ],
    tenants.map((u) => [bytes(u.bytes), count(u.events), count(u.erased), u.tenant]),
  )
  const all = tenants.flatMap((u) => u.types.map((type) => ({ ...type, tenant: u.tenant }))).sort((a, b) => b.bytes - a.bytes)
  t.out('')
  const several = tenants.length > 1
  printTable(
    t,
    [
      { title: 'payload', right: true },
      { title: 'events', right: true },
      { title: 'each', right: true, style: 'dim' },
      ...(several ? [{ title: 'tenant', most: 24 }] : []),
      { title: 'type', style: 'cyan' as const },
    ],
    all
      .slice(0, top)
      .map((u) => [
        bytes(u.bytes),
        count(u.events),
        bytes(Math.round(u.bytes / Math.max(1, u.events))),
        ...(several ? [u.tenant] : []),
        u.type,
      ]),
  )
  if (all.length > top) t.out(t.paint('dim', `… and ${all.length - top} more; show them with --top ${all.length}`))
}
