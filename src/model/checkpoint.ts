// A checkpoint: named components of a run or a turn, stored by content, and the manifest that names them.

/** The version of the manifest. Another version is refused. */
export const CHECKPOINT_SCHEMA = 1

/** A stored component. */
export interface ComponentRef {
  /** The ref of a value, or `blob:` and the digest of bytes. */
  readonly ref: string
  /** Grows by one when the content changes. */
  readonly revision: number
  /** The number of bytes, if the component is bytes. */
  readonly bytes?: number
  /** The blob kind of bytes. */
  readonly kind?: string
}

/** The manifest stands in an event and in a row. It names the components, and garbage collection keeps them while the row does. */
export interface CheckpointManifest {
  readonly schema: number
  readonly components: Readonly<Record<string, ComponentRef>>
  /** The turn state, if there is one. */
  readonly turn?: ComponentRef
}

/** State of the agent's turn that is stored beside the components. */
export interface TurnState {
  /** The index of the turn. */
  readonly turn?: number
  /** Usage so far, as the program counts it. */
  readonly usage?: unknown
  /** Usage of the last prompt. */
  readonly lastPromptUsage?: unknown
  /** Options of the protocol. */
  readonly options?: unknown
}
