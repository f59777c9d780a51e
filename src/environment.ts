// The environment that Node provides.

import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { sha256 } from './backends/sqlite/sha256.ts'
import { liveness } from './liveness.ts'
import type { Environment, Logger } from './ports/environment.ts'

/** Logs nothing. */
export const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} }

const storage = new AsyncLocalStorage<unknown>()

export const nodeEnvironment: Environment = {
  clock: { now: () => Date.now(), monotonic: () => performance.now() },
  timer: {
    after: (ms, signal) => wait(ms, undefined, signal && { signal: signal as globalThis.AbortSignal }),
    idly: (ms, signal) => wait(ms, undefined, { ref: false, ...(signal && { signal: signal as globalThis.AbortSignal }) }),
    soon: (callback) => setImmediate(callback),
  },
  entropy: { bytes: (count) => randomBytes(count) },
  digest: {
    sha256,
    hasher: () => {
      const hash = createHash('sha256')
      return { update: (bytes) => void hash.update(bytes), digest: () => new Uint8Array(hash.digest()) }
    },
  },
  logger: silent,
  context: { within: (value, work) => storage.run(value, work), current: () => storage.getStore() },
  liveness,
}
