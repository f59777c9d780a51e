// A change of the row of a run, and what is committed together with it.

import type { RunRow } from '../../../../model/run.ts'
import type { ValueNode } from '../../../../model/value.ts'
import type { Guard } from '../../../../ports/commit.ts'
import type { WriteTime } from '../../../measuring/write-time.ts'
import type { Scope } from '../../../wiring/scope.ts'
import type { DoneRow, Part } from '../../../writing/part.ts'
import type { Round, Share } from '../../../writing/transact.ts'
import type { RunCommand } from '../run-decider.ts'

export interface ChangeOptions {
  readonly guards?: readonly Guard[]
  /** Nodes of values that the commit carries. */
  readonly nodes?: readonly ValueNode[]
  /** The time of the event, if the program sees the same time. */
  readonly at?: number
  /** The facts of the run are not masked. */
  readonly whole?: boolean
  /** Began before the change, with the masking of a value in it. */
  readonly time?: WriteTime
}

/** A change of the row of the run, and what is committed with it. The first share answers. */
export interface BuiltChange<T> {
  readonly command: RunCommand
  /** The facts of the run are not masked. */
  readonly whole?: boolean
  readonly shares: readonly [Share<T>, ...Share[]]
}

export type BuildChange<T> = (scope: Scope, round: Round) => Promise<BuiltChange<T>>

/** The share with the entry of the run before it. */
export const withEntry = <T>(entry: Part<RunRow>, guard: Guard, share: Share<T>, left: (row: DoneRow<RunRow>) => void): Share<T> => ({
  ...share,
  parts: [entry, ...(share.parts ?? [])],
  guards: [guard, ...(share.guards ?? [])],
  committed: ([row, ...rows], done) => {
    left(row as DoneRow<RunRow>)
    return share.committed?.(rows, done) as T | Promise<T>
  },
})
