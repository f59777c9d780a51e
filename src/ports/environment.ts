// The kernel's access to the outside world. All side effects come in through here, so that a simulator can replay a seed.

import type { VectorMatrices } from './vector-matrix.ts'

export interface Clock {
  /** Unix milliseconds; may step back. */
  now(): number
  /** Milliseconds that never step back; only differences mean something. */
  monotonic(): number
}

export interface Timer {
  /** Resolves after `ms`, or rejects when its signal is aborted. It keeps the program alive. */
  after(ms: number, signal?: AbortSignal): Promise<void>
  /** Like `after`, for background work: it does not keep the program alive. */
  idly(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls back once everything that can run now has run. By then the lane has gathered a batch. */
  soon(callback: () => void): void
}

export interface Entropy {
  bytes(count: number): Uint8Array
}

export interface Digest {
  sha256(bytes: Uint8Array): Uint8Array
  /** SHA-256 of bytes that come in pieces. */
  hasher(): Hasher
}

export interface Hasher {
  update(bytes: Uint8Array): void
  digest(): Uint8Array
}

export interface Logger {
  info(message: string, details?: Readonly<Record<string, unknown>>): void
  warn(message: string, details?: Readonly<Record<string, unknown>>): void
  error(message: string, details?: Readonly<Record<string, unknown>>): void
}

/** A value that follows a task across everything it awaits, as AsyncLocalStorage does. */
export interface Context {
  within<T>(value: unknown, work: () => T): T
  /** The value of the innermost enclosing `within`. */
  current(): unknown
}

/**
 * Identifies an operating-system process among all that ever ran on this machine: host (with the pid namespace), boot, pid and start time.
 */
export interface ProcessMark {
  readonly host: string
  readonly boot: string
  readonly pid: number
  readonly started: string
}

/** What this process knows of another one. */
export type Fate = 'gone' | 'alive' | 'unknown'

export interface Liveness {
  /** This process; undefined if the system does not provide the data. */
  readonly self: ProcessMark | undefined
  /** True only with proof: same host and boot, and the pid is absent or has another start time. Unreadable data proves nothing. */
  isGone(other: ProcessMark): boolean
}

export interface Environment {
  readonly clock: Clock
  readonly timer: Timer
  readonly entropy: Entropy
  readonly digest: Digest
  readonly logger: Logger
  /** Without it, the branch that started a child waits for its result, whichever branch asks. */
  readonly context?: Context
  /** Detects dead processes on this machine. Without it, leases of dead processes only end by timeout. */
  readonly liveness?: Liveness
  /** Searches large collections of vectors in other threads. Without it, they are searched here. */
  readonly matrices?: VectorMatrices
}
