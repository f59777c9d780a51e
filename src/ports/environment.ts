// The world, as the kernel may ask of it. Everything that acts comes in through here, which is what lets a simulator replay a seed.

export interface Clock {
  /** Unix milliseconds; may step back. */
  now(): number
  /** Milliseconds that never step back; only differences mean something. */
  monotonic(): number
}

export interface Timer {
  /** Resolves after `ms`. Someone waits for it, so it keeps a program alive. */
  after(ms: number): Promise<void>
  /** The same for work that nobody waits for: it does not keep a program alive, and rejects when its signal is aborted. */
  idly(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls back once everything that can run now has run: the moment at which the lane has gathered a batch. */
  soon(callback: () => void): void
}

export interface Entropy {
  bytes(count: number): Uint8Array
}

export interface Digest {
  sha256(bytes: Uint8Array): Uint8Array
}

export interface Logger {
  info(message: string, details?: Readonly<Record<string, unknown>>): void
  warn(message: string, details?: Readonly<Record<string, unknown>>): void
  error(message: string, details?: Readonly<Record<string, unknown>>): void
}

export interface Environment {
  readonly clock: Clock
  readonly timer: Timer
  readonly entropy: Entropy
  readonly digest: Digest
  readonly logger: Logger
}
