// An approval is a question to a person about a subject and its exact arguments. It is answered once, or expires. A permit is an answer
// that also counts for later questions.

import { hex, utf8 } from './bytes.ts'
import { canonical } from './canonical.ts'
import type { Json } from './data.ts'
import type { Id, RunId, SessionId } from './ids.ts'
import type { Held } from './run.ts'

export type ApprovalId = Id<'approval'>
export type PermitId = Id<'permit'>

export type ApprovalState = 'pending' | 'approved' | 'denied' | 'answered' | 'expired' | 'withdrawn'
export const APPROVAL_STATES: readonly ApprovalState[] = ['pending', 'approved', 'denied', 'answered', 'expired', 'withdrawn']

/** Ordered from the lowest to the highest. */
export type Risk = 'low' | 'medium' | 'high' | 'critical'
export const RISKS: readonly Risk[] = ['low', 'medium', 'high', 'critical']

export type Decision = 'approve' | 'deny'

/** Records that a message about the approval reached a channel. `ref` is the message's reference there. */
export interface ApprovalDelivery {
  readonly channel: string
  readonly ref?: string | undefined
  readonly at: number
}

export interface ApprovalSeen {
  readonly by: string
  readonly at: number
}

export interface ApprovalRow {
  readonly id: ApprovalId
  readonly kind: 'ask' | 'approval'
  readonly state: ApprovalState
  /** The kind of subject: `tool`, `payment`. */
  readonly subjectType?: string | undefined
  readonly subject: string
  readonly data?: Json | undefined
  /** Reference to the data when it is too large for the row. */
  readonly blob?: { readonly digest: string; readonly bytes: number } | undefined
  /** The blobs and values that the data in `blob` refers to. */
  readonly holds?: readonly Held[] | undefined
  /** Those in errors within the data. */
  readonly told?: readonly Held[] | undefined
  /** Digest of subject type, subject and data. A decision counts for exactly these arguments. */
  readonly digest?: string | undefined
  readonly run?: RunId | undefined
  readonly session?: SessionId | undefined
  /** Idempotency key of the caller: the same key returns the same approval. */
  readonly key?: string | undefined
  readonly risk?: Risk | undefined
  /** Actors who may decide; absent, anyone may. */
  readonly deciders?: readonly string[] | undefined
  /** Store time from which no answer is accepted. */
  readonly expires?: number | undefined
  /** The actor on whose behalf it was asked. */
  readonly askedBy?: string | undefined
  readonly askedAt: number
  /** The first deliveries; `store.approvals.history` returns all of them. */
  readonly deliveries?: readonly ApprovalDelivery[] | undefined
  readonly seen?: readonly ApprovalSeen[] | undefined
  readonly decidedBy?: string | undefined
  readonly decidedAt?: number | undefined
  readonly note?: string | undefined
  /** The answer that an `ask` returns. */
  readonly value?: Json | undefined
  /** The permit that decided it without asking a person. */
  readonly permit?: PermitId | undefined
  /** The permit that this decision created. */
  readonly grants?: PermitId | undefined
}

export type PermitState = 'active' | 'revoked'
export const PERMIT_STATES: readonly PermitState[] = ['active', 'revoked']

/** Decides later approvals with the same digest: in its session, or everywhere until it expires. */
export interface PermitRow {
  readonly id: PermitId
  readonly state: PermitState
  readonly decision: Decision
  readonly digest?: string | undefined
  readonly subjectType?: string | undefined
  readonly subject: string
  /** The only session it counts in; absent, it counts in all. */
  readonly session?: SessionId | undefined
  /** Store time from which it no longer counts. */
  readonly until?: number | undefined
  /** The approval whose decision created it. */
  readonly approval?: ApprovalId | undefined
  readonly by?: string | undefined
  readonly note?: string | undefined
  /** Highest risk it covers: a person is asked about anything riskier. */
  readonly risk?: Risk | undefined
  readonly grantedAt: number
  readonly revokedAt?: number | undefined
  readonly revokedBy?: string | undefined
  readonly reason?: string | undefined
}

export interface Asked {
  readonly subjectType?: string | undefined
  readonly subject: string
  readonly data?: Json | undefined
}

/** Digest of the exact arguments: hex of SHA-256 over their RFC 8785 text, with secrets masked. */
export const askedDigest = (sha256: (bytes: Uint8Array) => Uint8Array, { subjectType, subject, data }: Asked): string =>
  hex(sha256(utf8(canonical({ subjectType, subject, data }))))
