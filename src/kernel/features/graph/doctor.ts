// Looks for damage in the graphs of a tenant: nodes without their parent, and heads whose leaf is gone.

import type { SessionId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { decodeBody } from '../../../model/rows.ts'
import { everyRow } from '../../reading/every-row.ts'
import type { Scope } from '../../wiring/scope.ts'

/** Each finding is one sentence. */
export async function checkGraphs(scope: Scope): Promise<readonly string[]> {
  const findings: string[] = []
  const sessions = { index: 'bySession', equals: [], limit: limits.listRows }
  for await (const { body } of everyRow(scope, 'session_heads', sessions)) {
    const { session, leaf } = decodeBody(body)
    for (const [node, missing] of await gapsOf(scope, session, leaf))
      findings.push(
        node === undefined
          ? `The leaf ${JSON.stringify(missing)} of session ${session} is not in its graph.`
          : `The parent ${JSON.stringify(missing)} of node ${JSON.stringify(node)} in session ${session} is not in its graph.`,
      )
  }
  return findings
}

async function gapsOf(
  scope: Scope,
  session: SessionId,
  leaf: string | undefined,
): Promise<readonly (readonly [string | undefined, string])[]> {
  const parents = new Map<string, string | undefined>()
  const live = { index: 'bySession', equals: [session, 'live'], limit: limits.listRows }
  for await (const { body } of everyRow(scope, 'graph_nodes', live)) {
    const { node, parent } = decodeBody(body)
    parents.set(node, parent)
  }
  const gaps = [...parents].flatMap(([node, parent]) => (parent === undefined || parents.has(parent) ? [] : [[node, parent] as const]))
  return leaf === undefined || parents.has(leaf) ? gaps : [...gaps, [undefined, leaf] as const]
}
