// Shows the audit of a tenant: refused writes and denied requests.

import type { Refusal } from '../../index.ts'
import { EXIT, type Exit } from '../exit.ts'
import { count, time } from '../format.ts'
import { tenantView, withStore } from '../store.ts'
import { printTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { jsonLine } from '../text.ts'

export interface AuditOptions {
  readonly tenant?: string
  readonly last?: number
}

export function audit(t: Terminal, url: string | undefined, { tenant, last }: AuditOptions): Promise<Exit> {
  return withStore(url, async (root) => {
    const store = await tenantView(root, tenant)
    const refusals: Refusal[] = []
    for await (const refusal of store.audit.list(last === undefined ? {} : { last })) {
      t.signal.throwIfAborted()
      if (t.json) t.out(jsonLine(refusal))
      else refusals.push(refusal)
    }
    if (t.json) return EXIT.fine
    if (refusals.length === 0) t.note(`Nothing was refused in tenant ${store.tenantId}.`)
    else {
      printTable(
        t,
        [
          { title: 'time (UTC)', style: 'dim' },
          { title: 'code', style: 'bold' },
          { title: 'times', right: true },
          { title: 'actor', most: 24, optional: true },
          { title: 'asked for', most: 28 },
          { title: 'id' },
        ],
        refusals.map(({ at, code, count: n, actor, noun, subject }) => [time(at), code, count(n), actor, noun, subject]),
      )
    }
    return EXIT.fine
  })
}
