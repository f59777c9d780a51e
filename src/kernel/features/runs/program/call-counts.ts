// Counts the calls of a program per branch, kind and name: the ordinal of a call is part of its slot.

import { refuse } from '../../../../model/errors.ts'
import { type Asked, type AskKind, entryKey, placeOf, slotOf } from './call.ts'

export class Slots {
  readonly #counts = new Map<string, number>()
  /** Slots of events that lost branches appended. */
  readonly #left = new Set<string>()
  #epoch = 0
  #hasAsked = false
  /** A checkpoint is being saved or restored. A call made now would belong to neither epoch. */
  underway: 'saving' | 'restoring' | undefined
  /** Checkpoints of this epoch that were refused because of open calls. Each has an ordinal, so that replay does not take it for a later one. */
  refused = 0

  /** The number of checkpoints that the program has passed. */
  get epoch(): number {
    return this.#epoch
  }

  /** The program has asked for something, so it is too late to restore a checkpoint. */
  get hasAsked(): boolean {
    return this.#hasAsked
  }

  /** Refuses while a checkpoint is being saved or restored. */
  checkSettled(about: Readonly<Record<string, unknown>>): void {
    if (this.underway) throw refuse('CHECKPOINT_UNDERWAY', { ...about, underway: this.underway })
  }

  asks(): void {
    this.#hasAsked = true
  }

  /** The next slot of this name in this branch. */
  next(branch: string, kind: AskKind, name: string, epoch: number): Asked {
    const counted = `${placeOf(branch, epoch)}\n${kind}\n${name}`
    let ordinal = (this.#counts.get(counted) ?? 0) + 1
    while (this.#left.size > 0 && this.#left.has(entryKey({ branch, kind, name, ordinal, epoch }))) ordinal++
    this.#counts.set(counted, ordinal)
    return { ...slotOf({ branch, name, ordinal, epoch }), kind }
  }

  /** Nobody else is given this slot. */
  leave(asked: Asked): void {
    this.#left.add(entryKey(asked))
  }

  startEpoch(epoch: number): void {
    this.#epoch = epoch
    this.refused = 0
    this.#counts.clear()
    this.#left.clear()
  }
}
