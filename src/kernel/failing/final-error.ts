// The error by which a handler or an effect says that a retry is useless.

/** Thrown by the work of an effect, it prevents retries. So does any error whose `retryable` is false. */
export class FinalError extends Error {
  override readonly name: string = 'FinalError'
  readonly retryable = false
}
