// The protocol between the demo and its agent: the order, the agent's plan, and the lines it reports.

import type { LeaseOptions } from '../../index.ts'

export const ORDER = { session: 'demo/order-4711', run: 'send again', approval: 'send another parcel', order: 4711, amount: 120 } as const

/** The point at which the agent halts: with a recorded result that is not used yet, inside an effect, or between two writes. */
export type Halt = 'charge recorded' | 'inside mail' | 'mail recorded' | 'nowhere'

export interface OrderPlan {
  readonly path: string
  readonly outbox: string
  readonly lease: LeaseOptions
  readonly halt: Halt
}

export type How = 'executed' | 'replayed'

/** One line on stdout. */
export type OrderLine =
  | { readonly said: 'taken up'; readonly fence: number; readonly attempt: number }
  | { readonly said: 'step'; readonly name: string; readonly how: How }
  | { readonly said: 'halted'; readonly at: Halt }
  | { readonly said: 'answered' }
  | { readonly said: 'refused'; readonly code: string; readonly message: string }
  | { readonly said: 'done' }
