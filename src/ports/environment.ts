// The world, as the kernel may ask of it. Everything that acts comes in through here, which is what lets a simulator replay a seed.

export interface Clock {
  /** Unix milliseconds; may step back. */
  now(): number
  /** Milliseconds that never step back; only differences mean something. */
  monotonic(): number
}

export interface Timer {
  /** Resolves after `ms`, or rejects when its signal is aborted. Someone waits for it, so it keeps a program alive. */
  after(ms: number, signal?: AbortSignal): Promise<void>
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

/** Whose work this is: what is known where it was begun, whatever it awaited since. */
export interface Context {
  within<T>(value: unknown, work: () => T): T
  /** What the innermost `within` around here was given. */
  current(): unknown
}

/** A process, told apart from every other that ever was on this machine: host (with the pid namespace), boot, pid, and when it started. */
export interface ProcessMark {
  readonly host: string
  readonly boot: string
  readonly pid: number
  readonly started: string
}

export interface Liveness {
  /** This process; undefined where the system does not tell. */
  readonly self: ProcessMark | undefined
  /** Provably gone: same host and boot, and the pid is absent or was started at another time. Anything that cannot be read is not a proof. */
  isGone(other: ProcessMark): boolean
}

export interface Environment {
  readonly clock: Clock
  readonly timer: Timer
  readonly entropy: Entropy
  readonly digest: Digest
  readonly logger: Logger
  /** Without it the result of a child is waited for by the branch that started it, whoever asks. */
  readonly context?: Context
  /** Who else is alive here. Without it nobody is ever known to be gone, and leases run out in their own time. */
  readonly liveness?: Liveness
}
