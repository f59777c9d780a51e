// Damage to the nodes of values.

import { maker } from '../../../src/conformance/material.ts'
import type { Backend } from '../../../src/ports/backend.ts'
import type { Commit, Outcome } from '../../../src/ports/commit.ts'
import type { Values } from '../../../src/ports/values.ts'
import { type Sabotage, spoiled } from './spoil.ts'

const kept = 'nodes are kept under their ref, as the commit carried them'
const guarded = 'a commit that names a node is refused where the tenant has no such node'
const together = 'a commit is all or nothing, with its nodes'
const walled = 'a node is its own tenant’s'
const shut = 'a tenant that is not active reads and writes no node'

const reading =
  (alter: (values: Values, backend: Backend) => Partial<Values>) =>
  (backend: Backend): Backend => ({ ...backend, values: { ...backend.values, ...alter(backend.values, backend) } })

const sending =
  (alter: (commit: Commit) => Commit) =>
  (backend: Backend): Backend => ({ ...backend, commit: (batch) => backend.commit(batch.map(alter)) })

const withNodes = (commit: Commit, nodes: Commit['nodes']): Commit => {
  const { nodes: _, ...rest } = commit
  return nodes && nodes.length > 0 ? { ...rest, nodes } : rest
}

export const valueSabotages: readonly Sabotage[] = [
  spoiled(
    'cuts off the last byte of a node',
    [kept],
    sending((commit) =>
      withNodes(
        commit,
        commit.nodes?.map(({ ref, body }) => ({ ref, body: body.subarray(0, -1) })),
      ),
    ),
  ),
  spoiled(
    'takes the first byte of a node for a note on its compression',
    [kept],
    reading((values) => ({
      get: async (tenant, refs) => (await values.get(tenant, refs)).map((body) => body?.with(0, (body[0] as number) & 0x3f)),
    })),
  ),
  spoiled(
    'writes only the first node of a commit',
    [kept],
    sending((commit) => withNodes(commit, commit.nodes?.slice(0, 1))),
  ),
  spoiled(
    'gives nodes in the order of their refs',
    [kept],
    reading((values) => ({
      get: async (tenant, refs) =>
        values.get(
          tenant,
          refs.toSorted((x, y) => ((x[0] as number) < (y[0] as number) ? -1 : 1)),
        ),
    })),
  ),
  spoiled(
    'does not look for the nodes that a commit names',
    [guarded],
    sending((commit) => ({ ...commit, guards: commit.guards.filter(({ kind }) => kind !== 'value') })),
  ),
  spoiled(
    'does not look for the nodes that the data of a caller names',
    [guarded],
    sending((commit) => ({ ...commit, guards: commit.guards.filter((guard) => guard.kind !== 'value' || !guard.given) })),
  ),
  spoiled('refuses a commit that names a node', [guarded], (backend) => ({
    ...backend,
    commit: async (batch) => {
      const outcomes = await backend.commit(batch.filter(({ guards }) => guards.every(({ kind }) => kind !== 'value')))
      let next = 0
      return batch.map(({ guards }) => {
        const refused = guards.find(({ kind }) => kind === 'value')
        return refused ? { ok: false, refused, found: 0, now: 0 } : (outcomes[next++] as Outcome)
      })
    },
  })),
  spoiled('notes in the journal that nodes were written', [kept], (backend) => ({
    ...backend,
    commit: async (batch) => {
      const outcomes = await backend.commit(
        batch.map((commit) =>
          commit.nodes && commit.events.length === 0 ? { ...commit, events: maker().commit(commit.tenant).events } : commit,
        ),
      )
      return outcomes
    },
  })),
  spoiled('writes the nodes of a commit before it looks at the guards', [together], (backend) => ({
    ...backend,
    commit: async (batch) => {
      for (const { tenant, nodes } of batch) if (nodes) await backend.commit([{ tenant, guards: [], events: [], changes: [], nodes }])
      return backend.commit(batch)
    },
  })),
  spoiled('keeps the nodes of all tenants together', [walled, guarded], (backend) => {
    const all = new Map<string, Uint8Array>()
    const key = (ref: Uint8Array): string => ref.join()
    return {
      ...backend,
      commit: async (batch) => {
        const outcomes = await backend.commit(
          batch.map((commit) => ({
            ...commit,
            guards: commit.guards.filter((guard) => guard.kind !== 'value' || !all.has(key(guard.ref))),
          })),
        )
        for (const [i, { nodes = [] }] of batch.entries()) if (outcomes[i]?.ok) for (const { ref, body } of nodes) all.set(key(ref), body)
        return outcomes
      },
      values: {
        ...backend.values,
        get: async (tenant, refs) => {
          await backend.values.get(tenant, refs)
          return refs.map((ref) => all.get(key(ref)))
        },
      },
    }
  }),
  spoiled('reads nodes of a closed tenant', [shut], (backend) => {
    const seen = new Map<string, Uint8Array | undefined>()
    return {
      ...backend,
      values: {
        ...backend.values,
        get: async (tenant, refs) => {
          try {
            const bodies = await backend.values.get(tenant, refs)
            for (const [i, ref] of refs.entries()) seen.set(ref.join(), bodies[i])
            return bodies
          } catch {
            return refs.map((ref) => seen.get(ref.join()))
          }
        },
      },
    }
  }),
]
