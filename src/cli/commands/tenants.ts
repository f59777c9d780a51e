// Lists tenants with their states, or closes one and brings it back.

import type { TenantState } from '../../index.ts'
import { EXIT, type Exit, usage } from '../exit.ts'
import { count } from '../format.ts'
import { knownTenant, withStore } from '../store.ts'
import { printTable } from '../table.ts'
import { environment, type Terminal, verdict } from '../terminal.ts'
import { jsonLine } from '../text.ts'
import { reasonWord } from '../words.ts'

export interface TenantsOptions {
  readonly reason?: string
  readonly actor?: string
}

const VERBS: Readonly<Record<string, TenantState>> = { suspend: 'suspended', resume: 'active', delete: 'deleted' }

/** `[store]`, or `suspend | resume | delete [store] <tenant>`; the store may be left out where INKFAST_URL names it. */
export function tenants(t: Terminal, words: readonly string[], options: TenantsOptions): Promise<Exit> {
  const [verb = '', ...rest] = words
  const state = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined
  if (state !== undefined) return turn(t, rest, state, options)
  if (rest.length > 0) throw usage(`'${rest[0]}' is one word too many. Write the store alone, or suspend, resume or delete first.`)
  if (options.reason !== undefined || options.actor !== undefined) throw usage('A list needs no --reason and no --actor.')
  return list(t, words[0])
}

function list(t: Terminal, url: string | undefined): Promise<Exit> {
  return withStore(url, async (store) => {
    const found: { readonly tenant: string; readonly state: TenantState; readonly events: number }[] = []
    for (const id of await store.tenants()) {
      t.signal.throwIfAborted()
      found.push({ tenant: id, state: await store.tenantState(id), events: (await store.tenant(id).head()).seq })
    }
    if (t.json) t.out(jsonLine({ tenants: found }))
    else if (found.length === 0) t.note('No tenant has written yet.')
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

function turn(t: Terminal, words: readonly string[], state: TenantState, { reason: given, actor }: TenantsOptions): Promise<Exit> {
  const [url, tenant, ...more] = words.length === 1 && environment.url !== undefined ? [undefined, ...words] : words
  if (tenant === undefined) throw usage('Which tenant? Write the store and then the tenant.')
  if (more.length > 0) throw usage(`'${more[0]}' is one word too many.`)
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
      else t.out(verdict(t, 'ok', changed ? `${tenantId} is ${state} now` : `${tenantId} was ${state} already; nothing was written`))
      return EXIT.fine
    },
    { write: true, append: true },
  )
}
