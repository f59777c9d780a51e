// Reads and streams that stop when the signal of their caller aborts.

import { InkError, refuse } from '../../model/errors.ts'
import { invalidOption } from '../../model/options.ts'
import { checkOpen, type Scope } from '../wiring/scope.ts'

export function stopIfAsked(scope: Scope, signal?: AbortSignal): void {
  checkSignal(signal)
  if (signal?.aborted) throw refuse('ABORTED', {}, signal.reason)
  checkOpen(scope.engine)
}

export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal === undefined || typeof signal?.addEventListener === 'function') return
  throw invalidOption('signal', 'an AbortSignal', signal)
}

/**
 * A tail that is left by `return()` or `throw()` while it waits ends at once, because its walk hears of it. A tail ends without an error when
 * the store closes, also in the middle of a read.
 */
export function tail<T>(
  { engine }: Pick<Scope, 'engine'>,
  walk: (leaving: AbortSignal) => AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  return leavable(async function* (leaving) {
    checkOpen(engine)
    try {
      yield* walk(leaving)
    } catch (error) {
      if (!(engine.closing.aborted && error instanceof InkError && error.code === 'STORE_CLOSED')) throw error
    }
  })
}

export function leavable<T>(walk: (leaving: AbortSignal) => AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
  const leaving = new AbortController()
  const items = walk(leaving.signal)
  const end = items.return.bind(items)
  const fail = items.throw.bind(items)
  items.return = (value) => {
    leaving.abort()
    return end(value)
  }
  items.throw = (error) => {
    leaving.abort()
    return fail(error)
  }
  return items
}

/** Yields the items, and throws ABORTED once the signal aborts: a list that ends early must not look complete. */
export async function* abortable<T>(
  scope: Scope,
  items: AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, undefined> {
  stopIfAsked(scope, signal)
  for await (const item of items) {
    yield item
    stopIfAsked(scope, signal)
  }
}

/** Ends the wait for a read once the signal aborts. The read itself goes on, and nobody hears of it. */
export async function whileWanted<T>(scope: Scope, signal: AbortSignal | undefined, read: () => Promise<T>): Promise<T> {
  stopIfAsked(scope, signal)
  if (!signal) return read()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(refuse('ABORTED', {}, signal.reason))
  signal.addEventListener('abort', abort, { once: true })
  const reading = read()
  reading.catch(() => {})
  try {
    return await Promise.race([aborted, reading])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Yields the chunks of a caller. An abort also ends the wait for a chunk that does not come. */
export async function* abandonable<T>(chunks: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, undefined> {
  const reader = chunks[Symbol.asyncIterator]()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(refuse('ABORTED', {}, signal.reason))
  aborted.catch(() => {})
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    for (;;) {
      const next = await Promise.race([aborted, reader.next()])
      if (next.done) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', abort)
    const left = Promise.resolve(reader.return?.())
    // A stream that is stuck never answers.
    if (signal.aborted) left.catch(() => {})
    else await left
  }
}
