// A signal tells a session that something happened. It waits until a run asks for it.

import type { Json } from './data.ts'
import type { SessionId } from './ids.ts'

export interface SignalRow {
  readonly session: SessionId
  readonly name: string
  readonly state: 'pending'
  readonly data?: Json | undefined
  readonly sentAt: number
}
