// The error by which a handler or an effect says that a retry is of no use.

/** Thrown by an effect's work, it is final: no further attempt is made. So is any error whose `retryable` is false. */
export class FinalError extends Error {
  override readonly name: string = 'FinalError'
  readonly retryable = false
}
