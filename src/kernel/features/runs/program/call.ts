// Something that a program asks of its run, found on the tape by branch, kind, name and ordinal.

import type { Slot, TakeKind, WaitKind } from '../../../../model/run.ts'

export type AskKind = 'effect' | 'start' | 'race' | 'usage' | 'append' | 'checkpoint' | TakeKind | WaitKind

export interface Asked extends Slot {
  readonly kind: AskKind
}

export const entryKey = ({ branch, kind, name, ordinal, epoch = 0 }: Asked): string =>
  `${branch}\n${kind}\n${name}\n${ordinal}${epoch === 0 ? '' : `\n${epoch}`}`

/** The slot as events record it. */
export const slotOf = ({ branch, name, ordinal, epoch }: Slot): Slot => ({ branch, name, ordinal, ...(epoch ? { epoch } : {}) })

/** The place of a branch among those of all epochs, which number their branches anew. */
export const placeOf = (branch: string, epoch = 0): string => (epoch === 0 ? branch : `${epoch}!${branch}`)
