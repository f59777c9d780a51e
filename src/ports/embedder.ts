// Turns texts into vectors. The kernel checks everything that an embedder returns.

export interface Embedder {
  /** The name of the model. */
  readonly id: string
  /** Changes whenever the same text would get another vector. */
  readonly version: string
  /** Numbers in a vector; undefined until the first answer shows it. */
  readonly dimensions: number | undefined
  /** Needs a network. */
  readonly network: boolean
  /** Texts that it takes at a time. */
  readonly batch: number
  /** The longest time for one batch, with all retries. */
  readonly timeoutMs: number
  /** Returns one vector per text, in order. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<unknown>
  /** Releases what it holds. */
  close(): Promise<void>
}
