// An approval is a question to a person: about a subject and its exact arguments, answered once, until it is too late to ask. A permit is an answer that
// was given for more than once.

import { hex, utf8 } from './bytes.ts'
import { canonical } from './canonical.ts'
import type { Json } from './data.ts'
import type { Id, RunId, SessionId } from './ids.ts'

export type ApprovalId = Id<'approval'>
export type PermitId = Id<'permit'>

export type ApprovalState = 'pending' | 'approved' | 'denied' | 'answered' | 'expired' | 'withdrawn'
export const APPROVAL_STATES: readonly ApprovalState[] = ['pending', 'approved', 'denied', 'answered', 'expired', 'withdrawn']

/** From the least to the most. */
export type Risk = 'low' | 'medium' | 'high' | 'critical'
export const RISKS: readonly Risk[] = ['low', 'medium', 'high', 'critical']

export type Decision = 'approve' | 'deny'

/** That it reached somebody: a message of a channel, by its reference there. */
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
  /** What kind of thing the subject is: `tool`, `payment`. */
  readonly subjectType?: string | undefined
  readonly subject: string
  readonly data?: Json | undefined
  /** Where the data is large. */
  readonly blob?: { readonly digest: string; readonly bytes: number } | undefined
  /** Of subject type, subject and data: what is decided is this and nothing else. */
  readonly digest?: string | undefined
  readonly run?: RunId | undefined
  readonly session?: SessionId | undefined
  /** The caller's: the same key, the same question. */
  readonly key?: string | undefined
  readonly risk?: Risk | undefined
  /** Nobody else may decide. */
  readonly deciders?: readonly string[] | undefined
  /** Store time from which no answer counts. */
  readonly expires?: number | undefined
  /** On whose behalf it was asked. */
  readonly askedBy?: string | undefined
  readonly askedAt: number
  /** The first so many; `store.approvals.history` has them all. */
  readonly deliveries?: readonly ApprovalDelivery[] | undefined
  readonly seen?: readonly ApprovalSeen[] | undefined
  readonly decidedBy?: string | undefined
  readonly decidedAt?: number | undefined
  readonly note?: string | undefined
  /** What an `ask` comes back with. */
  readonly value?: Json | undefined
  /** The permit it was decided by: nobody was asked. */
  readonly permit?: PermitId | undefined
  /** The permit this decision gave. */
  readonly grants?: PermitId | undefined
}

export type PermitState = 'active' | 'revoked'
export const PERMIT_STATES: readonly PermitState[] = ['active', 'revoked']

/** Decides what is asked again with the same digest: in its session, or everywhere until its time. */
export interface PermitRow {
  readonly id: PermitId
  readonly state: PermitState
  readonly decision: Decision
  readonly digest?: string | undefined
  readonly subjectType?: string | undefined
  readonly subject: string
  /** The session it is for. */
  readonly session?: SessionId | undefined
  /** Store time from which it decides nothing. */
  readonly until?: number | undefined
  /** The approval that was decided with it. */
  readonly approval?: ApprovalId | undefined
  readonly by?: string | undefined
  readonly note?: string | undefined
  /** What is riskier than this is asked. */
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

/** Exactly these arguments: hex of SHA-256 over their RFC 8785 text, with what is secret in them masked. */
export const askedDigest = (sha256: (bytes: Uint8Array) => Uint8Array, { subjectType, subject, data }: Asked): string =>
  hex(sha256(utf8(canonical({ subjectType, subject, data }))))
