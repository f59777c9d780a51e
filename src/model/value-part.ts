// A list or an object inside a value: read lazily, or about to be stored. It can stand in another value and costs nothing there.

import type { Json } from './data.ts'

/** Stored: the bytes of its item. New: its content, which may follow the items of another list. */
export type PartState =
  | { readonly item: Uint8Array }
  | { readonly content: readonly Json[] | { readonly [key: string]: Json }; readonly after?: ValuePart | undefined }

/** Made by `values.part`, and by lazy reads. */
export class ValuePart {
  // A part has no members, so it may stand wherever JSON may.
  readonly [member: string]: never
  #state: PartState

  constructor(state: PartState) {
    this.#state = state
  }

  static stateOf(part: ValuePart): PartState {
    return part.#state
  }

  /** The part is stored now, and forgets its content. */
  static settle(part: ValuePart, item: Uint8Array): void {
    part.#state = { item }
  }
}
