// Links tool approvals in a message to approvals of the store: by id, or by the key that the caller gave. A decision of the store shows in the
// message as it is read.

import type { ApprovalRow, ApprovalState } from '../../../model/approval.ts'
import { isId, type SessionId } from '../../../model/ids.ts'
import { checkKey } from '../../../model/options.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { MessageContent } from '../../../model/thread.ts'
import type { Scope } from '../../wiring/scope.ts'
import { readRow } from '../../writing/execute.ts'
import { isTool } from './check-part.ts'
import { readContent } from './content.ts'
import type { AnyMessage, AnyPart } from './stored-message.ts'

export interface LinkedApproval {
  readonly toolCallId: string
  /** The id of the approval in the store. */
  readonly approval: string
  readonly state: string
  readonly decidedBy?: string
  readonly note?: string
}

export async function linkedApprovals(scope: Scope, session: SessionId, { parts }: AnyMessage): Promise<readonly LinkedApproval[]> {
  const linked: LinkedApproval[] = []
  for (const part of parts) {
    const found = await approvalOf(scope, session, part)
    if (!found) continue
    const { id, state, decidedBy, note } = found
    const about = { ...(decidedBy !== undefined && { decidedBy }), ...(note !== undefined && { note }) }
    linked.push({ toolCallId: part.toolCallId, approval: id, state, ...about })
  }
  return linked
}

/** Reads a stored message. Its questions for approval have the answers that the store decided. */
export async function readMessage(scope: Scope, session: SessionId, content: MessageContent): Promise<AnyMessage> {
  const message = await readContent(scope, content)
  if (!message.parts.some(isOpen)) return message
  const parts = await Promise.all(
    message.parts.map(async (part) => (isOpen(part) ? answered(part, await approvalOf(scope, session, part)) : part)),
  )
  return { ...message, parts }
}

const isOpen = (part: AnyPart): boolean => isTool(part) && part.state === 'approval-requested'

/** Whether a tool may run, by the state of its question. */
const ANSWER: Readonly<Partial<Record<ApprovalState, boolean>>> = { approved: true, denied: false, expired: false, withdrawn: false }

function answered(part: AnyPart, found: ApprovalRow | undefined): AnyPart {
  const approved = found && ANSWER[found.state]
  if (!found || approved === undefined) return part
  const { state, note } = found
  const reason = note ?? (state === 'expired' || state === 'withdrawn' ? state : undefined)
  return { ...part, state: 'approval-responded', approval: { ...part.approval, approved, ...(reason !== undefined && { reason }) } }
}

/**
 * A question of another session is none of this one: a fork would run what was approved for its source. One without a session counts only by
 * its id, because a key can be used again for something else.
 */
async function approvalOf(scope: Scope, session: SessionId, part: AnyPart): Promise<ApprovalRow | undefined> {
  const id: unknown = isTool(part) ? part.approval?.id : undefined
  const found = typeof id === 'string' ? await findApproval(scope, id) : undefined
  const isMeant = found?.session === undefined ? found?.id === id : found.session === session
  return isMeant ? found : undefined
}

async function findApproval(scope: Scope, id: string): Promise<ApprovalRow | undefined> {
  if (isId(id)) return (await readRow(scope, 'approvals', id)).body
  try {
    checkKey(id)
  } catch {
    // No approval has such a key.
    return undefined
  }
  const query = { index: 'byKey', equals: [id], backwards: true, limit: 1 }
  const [row] = (await scope.engine.backend.rows.list(scope.tenant, 'approvals', query)).rows
  return row && decodeBody(row.body, row)
}
