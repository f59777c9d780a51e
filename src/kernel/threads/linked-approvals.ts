// Links tool approvals in a message to approvals of the store: by id, or by the key that the caller gave.

import { isId } from '../../model/ids.ts'
import { checkKey } from '../../model/options.ts'
import { decodeBody } from '../../model/rows.ts'
import { readRow } from '../execute.ts'
import type { Scope } from '../scope.ts'
import type { StoredMessage } from './check-message.ts'

export interface LinkedApproval {
  readonly toolCallId: string
  /** The id of the approval in the store. */
  readonly approval: string
  readonly state: string
  readonly decidedBy?: string
  readonly note?: string
}

export async function linkedApprovals(scope: Scope, { parts }: StoredMessage): Promise<readonly LinkedApproval[]> {
  const linked: LinkedApproval[] = []
  for (const { toolCallId, approval } of parts) {
    const found = typeof approval?.id === 'string' ? await findApproval(scope, approval.id) : undefined
    if (!found) continue
    const { id, state, decidedBy, note } = found
    linked.push({ toolCallId, approval: id, state, ...(decidedBy !== undefined && { decidedBy }), ...(note !== undefined && { note }) })
  }
  return linked
}

async function findApproval(scope: Scope, id: string) {
  if (isId(id)) return (await readRow(scope, 'approvals', id)).body
  try {
    checkKey(id)
  } catch {
    // No approval has such a key.
    return undefined
  }
  const query = { index: 'byKey', equals: [id], backwards: true, limit: 1 }
  const [row] = (await scope.engine.backend.rows.list(scope.tenant, 'approvals', query)).rows
  return row && decodeBody(row.body)
}
