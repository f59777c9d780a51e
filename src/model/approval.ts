// An approval is a question that holds a run until someone answers, or until it is too late to ask.

import type { Json } from './data.ts'
import type { Id, RunId, SessionId } from './ids.ts'

export type ApprovalId = Id<'approval'>
export type ApprovalState = 'pending' | 'approved' | 'denied' | 'answered' | 'expired' | 'withdrawn'

export interface ApprovalRow {
  readonly id: ApprovalId
  readonly kind: 'ask' | 'approval'
  readonly state: ApprovalState
  readonly subject: string
  readonly data?: Json | undefined
  /** Where the data is large. */
  readonly blob?: { readonly digest: string; readonly bytes: number } | undefined
  readonly run?: RunId | undefined
  readonly session?: SessionId | undefined
  /** Store time from which no answer counts. */
  readonly expires?: number | undefined
  readonly decidedBy?: string | undefined
  readonly note?: string | undefined
  /** What an `ask` comes back with. */
  readonly value?: Json | undefined
  readonly askedAt: number
  readonly decidedAt?: number | undefined
}
