// Lists tenants with their states; suspends, resumes or deletes one.

import type { TenantState } from '../../index.ts'
import { EXIT, type Exit } from '../exit.ts'
import { count } from '../format.ts'
import { knownTenant, withStore } from '../store.ts'
import { printTable } from '../table.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { jsonLine } from '../text.ts'
import { namedWords, onlyStore, reasonWord } from '../words.ts'

export interface TenantsOptions {
  readonly reason?: string
  readonly actor?: string
}

export function listTenants(t: Terminal, words: readonly string[]): Promise<Exit> {
  const url = onlyStore(words)
  return withStore(url, async (store) => {
    const found: { readonly tenant: string; readonly state: TenantState; readonly events: number }[] = []
    for (const id of await store.tenants()) {
      t.signal.throwIfAborted()
      found.push({ tenant: id, state: await store.tenantState(id), events: (await store.tenant(id).head()).seq })
    }
    if (t.json) t.out(jsonLine({ tenants: found }))
    else if (found.length === 0) t.note('The store has no tenants yet.')
    else {
      printTable(
        t,
        [
          { title: 'tenant', style: 'bold' },
          { title: 'state', style: (state) => (state === 'active' ? 'green' : 'yellow') },
          { title: 'events' },
        ],
        found.map((one) => [one.tenant, one.state, count(one.events)]),
      )
    }
    return EXIT.fine
  })
}

type Change = (t: Terminal, words: readonly string[], options: TenantsOptions) => Promise<Exit>

export const suspendTenant: Change = (t, words, options) => change(t, words, 'suspended', options)
export const resumeTenant: Change = (t, words, options) => change(t, words, 'active', options)
export const deleteTenant: Change = (t, words, options) => change(t, words, 'deleted', options)

function change(t: Terminal, words: readonly string[], state: TenantState, { reason: given, actor }: TenantsOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { tenant: 'inkfast tenants list' })
  const tenant = names[0] as string
  const reason = reasonWord(given)
  return withStore(
    url,
    async (root) => {
      const store = actor === undefined ? root : root.as(actor)
      const { tenantId } = await knownTenant(root, tenant)
      const before = await store.tenantState(tenantId)
      await store.setTenantState(tenantId, state, { reason })
      const changed = before !== state
      if (t.json) t.out(jsonLine({ tenant: tenantId, state, changed }))
      else
        t.out(
          verdict(t, 'ok', changed ? `tenant ${tenantId} is now ${state}` : `tenant ${tenantId} was already ${state}; nothing was written`),
        )
      return EXIT.fine
    },
    { write: true, append: true },
  )
}
