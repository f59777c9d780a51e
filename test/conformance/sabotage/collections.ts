// Damage to the garbage collection of nodes.

import { MAIN, OTHER } from '../../../src/conformance/material.ts'
import type { Backend } from '../../../src/ports/backend.ts'
import type { Values } from '../../../src/ports/values.ts'
import { type Sabotage, spoiled } from './spoil.ts'

const seen = 'a collection sees every node of the tenant, newest first'
const noted = 'a collection learns of every older node that a commit names or writes again'
const removed = 'a collection removes the nodes it names, and only while nothing was named that it has not seen'
const referred = 'references of events are kept until the event is erased'
const walled = 'a collection is its own tenant’s'

const collecting =
  (alter: (values: Values, backend: Backend) => Partial<Values>) =>
  (backend: Backend): Backend => ({ ...backend, values: { ...backend.values, ...alter(backend.values, backend) } })

export const collectionSabotages: readonly Sabotage[] = [
  spoiled(
    'scans nodes oldest first',
    [seen, noted],
    collecting((values) => ({ scan: async (...given) => (await values.scan(...given)).toReversed() })),
  ),
  spoiled('counts from one again once all nodes are gone', [seen], (backend) => {
    let gone = 0
    return {
      ...backend,
      values: {
        ...backend.values,
        scan: async (...given) => (await backend.values.scan(...given)).map((node) => ({ ...node, id: node.id - gone })),
        remove: async (tenant, number, ids, known) => {
          const answer = await backend.values.remove(tenant, number, ids, known)
          if (answer === 'removed' && (await backend.values.scan(tenant, Number.MAX_SAFE_INTEGER, 1)).length === 0) gone = Math.max(...ids)
          return answer
        },
      },
    }
  }),
  spoiled(
    'never says that a node was named',
    [noted],
    collecting(() => ({ named: async () => [] })),
  ),
  spoiled(
    'notes the nodes of refused commits',
    [noted],
    collecting((values, backend) => ({
      named: async (tenant, number) => {
        const all = (await backend.values.scan(tenant, Number.MAX_SAFE_INTEGER, 1)).map(({ ref }) => ref)
        const known = await values.named(tenant, number)
        return known.length > 0 ? known : all
      },
    })),
  ),
  spoiled(
    'removes without looking at what was named',
    [removed],
    collecting((values) => ({
      remove: async (tenant, number, ids) => values.remove(tenant, number, ids, (await values.named(tenant, number)).length),
    })),
  ),
  spoiled(
    'removes for a collection that was replaced',
    [removed],
    collecting((values) => ({
      remove: async (tenant, number, ids, known) => {
        const answer = await values.remove(tenant, number, ids, known)
        if (answer !== 'replaced') return answer
        return values.remove(tenant, (await values.begin(tenant)).number, ids, 0)
      },
    })),
  ),
  spoiled(
    'forgets the first node to remove',
    [removed],
    collecting((values) => ({ remove: (tenant, number, ids, known) => values.remove(tenant, number, ids.slice(1), known) })),
  ),
  spoiled(
    'removes the oldest node of other tenants too',
    [walled],
    collecting((values) => ({
      remove: async (tenant, number, ids, known) => {
        for (const other of [MAIN, OTHER]) {
          const oldest = (await values.scan(other, Number.MAX_SAFE_INTEGER, 100)).at(-1)
          if (oldest && other !== tenant) await values.remove(other, (await values.begin(other)).number, [oldest.id], 0)
        }
        return values.remove(tenant, number, ids, known)
      },
    })),
  ),
  spoiled('keeps the references of erased events', [referred], (backend) => {
    const kept: { seq: number; ref: string }[] = []
    return {
      ...backend,
      commit: async (batch) => {
        for (const { tenant } of batch) kept.push(...(await backend.values.references(tenant, undefined, 100).catch(() => [])))
        return backend.commit(batch)
      },
      values: {
        ...backend.values,
        references: async (tenant, after, limit) => {
          const found = await backend.values.references(tenant, after, limit)
          return found.length > 0 && kept.length > 0 && !after ? [...kept.slice(0, 1), ...found] : found
        },
      },
    }
  }),
  spoiled('scans the nodes of a closed tenant', [walled], (backend) => ({
    ...backend,
    values: { ...backend.values, scan: (tenant, upTo, limit) => backend.values.scan(tenant, upTo, limit).catch(() => []) },
  })),
]
