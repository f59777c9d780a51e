// Collects garbage: deletes values and blobs that nothing refers to, of one tenant or of all.

import type { CollectReport } from '../../index.ts'
import { EXIT, type Exit } from '../exit.ts'
import { bytes, one } from '../format.ts'
import { tellClosed, tenantViews, withStore } from '../store.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { jsonLine } from '../text.ts'
import { durationWord, given } from '../words.ts'

export interface CollectCommandOptions {
  readonly tenant?: string
  readonly dryRun?: boolean
  readonly grace?: string
}

export function collect(t: Terminal, url: string | undefined, { tenant, dryRun, grace }: CollectCommandOptions): Promise<Exit> {
  return withStore(
    url,
    async (store) => {
      const { views, closed } = await tenantViews(store, tenant)
      const tenants: ({ readonly tenant: string } & CollectReport)[] = []
      // Content that was put by hand may lie in a store that has no event yet, and so no tenant.
      const all = views.length + closed.length === 0 ? [store] : views
      for (const view of all) {
        t.signal.throwIfAborted()
        const options = given({ dryRun, grace: grace === undefined ? undefined : durationWord(grace) })
        const report = await view.collect({ ...options, signal: t.signal })
        tenants.push({ tenant: view.tenantId, ...report })
        if (!t.json) t.out(verdict(t, 'ok', `${view.tenantId}: ${told(report, dryRun ?? false)}`))
      }
      if (t.json) t.out(jsonLine({ tenants, ...(closed.length > 0 && { closed }) }))
      else tellClosed(t, closed)
      return EXIT.fine
    },
    { write: !dryRun },
  )
}

function told({ deleted, retained }: CollectReport, dryRun: boolean): string {
  const parts = ({ nodes, blobs, bytes: size }: CollectReport['deleted']): string =>
    `${one(nodes, 'node')} and ${one(blobs, 'blob')} (${bytes(size)})`
  return `${parts(deleted)} ${dryRun ? 'would be deleted' : 'deleted'}, ${parts(retained)} kept`
}
