// The types of this feature that users see.

export type { CommittedTurn } from './commit-turn.ts'
export type { EnqueueOptions } from './enqueue.ts'
export type { NodeOptions, TurnOptions } from './turn-options.ts'
