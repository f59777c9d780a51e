// The types of this feature that users see.

export type { ErrorData, RunRow, RunState, Wait } from '../../model/run.ts'
export type { Resolution, RunListOptions } from './admin.ts'
export type { All, Begun, Branch, Within } from './branch.ts'
export type { Child } from './child.ts'
export type { EffectContext, EffectOptions, RetryOptions } from './effect.ts'
export type { ForkOptions } from './fork.ts'
export type { RunHolder } from './holder.ts'
export type { Handler, RunNode, RunNodeOptions, RunNodeStats } from './node.ts'
export type { Run } from './run.ts'
export type { SendOptions } from './signal.ts'
export type { RunHandle, StartOptions } from './start.ts'
export type { RunOptions } from './take-up.ts'
