// Something that a program asks of its run, found on the tape by branch, kind, name and ordinal.

import type { Slot, TakeKind, WaitKind } from '../../model/run.ts'

export type AskKind = 'effect' | 'start' | 'race' | 'usage' | 'append' | TakeKind | WaitKind

export interface Asked extends Slot {
  readonly kind: AskKind
}

export const entryKey = ({ branch, kind, name, ordinal }: Asked): string => `${branch}\n${kind}\n${name}\n${ordinal}`
