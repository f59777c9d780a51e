// Shows tokens and costs: of every active tenant, of one, or of one session.

import type { Store, UsageGroup, UsageSum } from '../../index.ts'
import { EXIT, type Exit } from '../exit.ts'
import { time } from '../format.ts'
import { instant } from '../query.ts'
import { printCounts } from '../runs/usage-table.ts'
import { findSession, type TenantViews, tellClosed, tenantView, tenantViews, withStore } from '../store.ts'
import type { Column } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { jsonLine } from '../text.ts'

export interface UsageOptions {
  readonly tenant?: string
  readonly session?: string
  readonly by?: readonly string[]
  readonly since?: string
  readonly until?: string
}

interface TenantSum extends UsageSum {
  readonly tenant: string
}

export function usage(t: Terminal, url: string | undefined, options: UsageOptions): Promise<Exit> {
  return withStore(url, async (root) => {
    const { views, closed } = await viewsOf(root, options)
    const by = (options.by ?? ['source', 'model']) as readonly UsageGroup[]
    const sums: TenantSum[] = []
    for (const view of views) {
      t.signal.throwIfAborted()
      for (const sum of await sumsOf(view, by, options)) sums.push({ tenant: view.tenantId, ...sum })
    }
    if (t.json) {
      t.out(jsonLine({ items: sums, ...(closed.length > 0 && { closed }) }))
      return EXIT.fine
    }
    if (sums.length === 0) t.note('No usage was counted.')
    else {
      const labels = views.length > 1 ? (['tenant', ...by] as const) : by
      const columns = labels.map((title): Column => ({ title: title === 'hour' ? 'hour (UTC)' : title, most: 32 }))
      printCounts(
        t,
        columns,
        sums.map((sum) => ({ labels: labels.map((label) => labelText(sum[label])), counts: sum })),
      )
      if (sums.some(({ overflow }) => overflow))
        t.note('Some counts are too large to be exact and stay at 2^53 − 1; --json marks them with overflow.')
    }
    tellClosed(t, closed)
    return EXIT.fine
  })
}

// A session belongs to one tenant.
async function viewsOf(root: Store, { tenant, session }: UsageOptions): Promise<TenantViews> {
  if (session === undefined) return tenantViews(root, tenant)
  return { views: [await tenantView(root, tenant)], closed: [] }
}

async function sumsOf(view: Store, by: readonly UsageGroup[], { session, since, until }: UsageOptions): Promise<readonly UsageSum[]> {
  const now = Date.now()
  return view.usage({
    by,
    ...(session !== undefined && { session: (await findSession(view, session)).id }),
    ...(since !== undefined && { since: instant(since, now) }),
    ...(until !== undefined && { until: instant(until, now) }),
  })
}

const labelText = (label: string | number | undefined): string => {
  if (typeof label === 'number') return time(label).slice(0, 16)
  return label === '' || label === undefined ? '(erased)' : label
}
