// Nodes of values in a map by their ref. Bodies are copied in and out, so that callers cannot change the stored ones.

import { hex } from '../../model/bytes.ts'
import { NAMED_AGAIN_MS } from '../../model/value.ts'
import type { Commit } from '../../ports/commit.ts'
import type { Values } from '../../ports/values.ts'
import { activeTenant, type MemoryNode, type MemoryState, type MemoryTenant } from './state.ts'

export const values = (state: MemoryState): Values => ({
  get: async (id, refs) => {
    const { nodes } = activeTenant(state, id)
    return refs.map((ref) => {
      const node = nodes.get(hex(ref))
      return node && new Uint8Array(node.body)
    })
  },
  scan: async (id, upTo, limit) => {
    const { nodes, named } = activeTenant(state, id)
    return [...nodes]
      .filter(([, node]) => node.id <= upTo)
      .sort(([, x], [, y]) => y.id - x.id)
      .slice(0, limit)
      .map(([key, node]) => ({
        id: node.id,
        ref: Uint8Array.from(key.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)),
        at: Math.max(node.at, named.get(key)?.at ?? 0),
        bytes: node.body.length,
      }))
  },
  references: async (id, after, limit) => {
    const { references } = activeTenant(state, id)
    return references.filter(({ seq, ref }) => !after || seq > after.seq || (seq === after.seq && ref > after.ref)).slice(0, limit)
  },
  begin: async (id) => {
    const tenant = activeTenant(state, id)
    tenant.collection = { number: tenant.collection.number + 1, top: tenant.lastNode, active: true }
    return { number: tenant.collection.number, top: tenant.collection.top }
  },
  named: async (id, number) => {
    const { named } = activeTenant(state, id)
    return [...named]
      .filter(([, note]) => note.number === number)
      .map(([key]) => Uint8Array.from(key.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)))
  },
  remove: async (id, number, ids, seen) => {
    const { collection, nodes, named } = activeTenant(state, id)
    if (!collection.active || collection.number !== number) return 'replaced'
    if ([...named.values()].filter((note) => note.number === number).length !== seen) return 'named'
    for (const [key, node] of nodes) {
      if (!ids.includes(node.id)) continue
      nodes.delete(key)
      named.delete(key)
    }
    return 'removed'
  },
  end: async (id, number) => {
    const tenant = activeTenant(state, id)
    if (tenant.collection.number === number) tenant.collection = { ...tenant.collection, active: false }
  },
})

export function addNodes(tenant: MemoryTenant, commit: Commit, now: number): void {
  for (const { ref, body } of commit.nodes ?? [])
    if (!tenant.nodes.has(hex(ref))) tenant.nodes.set(hex(ref), { id: ++tenant.lastNode, at: now, body: new Uint8Array(body) })
}

/** Notes the nodes that the tenant has and the commit names or carries, if they are older than a collection, or simply old. */
export function nameNodes(tenant: MemoryTenant, commit: Commit, now: number): void {
  const refs = [
    ...commit.guards.flatMap((guard) => (guard.kind === 'value' ? [guard.ref] : [])),
    ...(commit.nodes ?? []).map(({ ref }) => ref),
  ]
  for (const ref of refs) {
    const node = tenant.nodes.get(hex(ref))
    if (node && isDue(tenant, node, tenant.named.get(hex(ref)), now))
      tenant.named.set(hex(ref), { at: now, number: tenant.collection.active ? tenant.collection.number : 0 })
  }
}

function isDue({ collection }: MemoryTenant, node: MemoryNode, note: { at: number; number: number } | undefined, now: number): boolean {
  if (collection.active && node.id <= collection.top) return note?.number !== collection.number
  return now - Math.max(node.at, note?.at ?? 0) > NAMED_AGAIN_MS
}
