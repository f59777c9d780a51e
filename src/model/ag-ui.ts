// Updates of a canvas in the form of the AG-UI protocol: a state snapshot, or a state delta, which is a JSON Patch.

import type { PatchOperation } from './json-patch.ts'

export type AgUiEvent =
  | { readonly type: 'STATE_SNAPSHOT'; readonly snapshot: unknown }
  | { readonly type: 'STATE_DELTA'; readonly delta: readonly PatchOperation[] }

/** Turns an update that `canvas.subscribe` yields into an AG-UI event. */
export const agUiEvent = (update: { readonly snapshot: unknown } | { readonly patch: readonly PatchOperation[] }): AgUiEvent =>
  'snapshot' in update ? { type: 'STATE_SNAPSHOT', snapshot: update.snapshot } : { type: 'STATE_DELTA', delta: update.patch }
