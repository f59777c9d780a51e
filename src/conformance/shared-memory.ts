// The oracle as a store that outlives its handles and has several of them, to try cases about reopening and sharing without a disk.

import { randomBytes } from 'node:crypto'
import { memoryBackend } from '../backends/memory/backend.ts'
import { refuse } from '../model/errors.ts'
import type { Backend } from '../ports/backend.ts'
import type { OpenBackend } from './case.ts'
import { sha256 } from './material.ts'

export const openMemory: OpenBackend = async (options) => ({ backend: freshMemory(options?.now) })

export const openSharedMemory: OpenBackend = async (options) => {
  const kept = freshMemory(options?.now)
  return {
    backend: handleTo(kept),
    noticeMs: 60,
    reopen: async () => handleTo(kept),
    second: async () => handleTo(kept),
  }
}

export const freshMemory = (now: () => number = Date.now): Backend =>
  memoryBackend({ clock: { now }, digest: { sha256 }, entropy: { bytes: (count) => randomBytes(count) } })

/** Closes only this handle. */
export function handleTo(kept: Backend): Backend {
  let closed = false
  const checkOpen = (): void => {
    if (closed) throw refuse('STORE_CLOSED')
  }
  return {
    ...kept,
    commit: async (batch) => {
      checkOpen()
      return kept.commit(batch)
    },
    blobs: {
      ...kept.blobs,
      put: async (tenant, digest, bytes) => {
        checkOpen()
        return kept.blobs.put(tenant, digest, bytes)
      },
      write: async (tenant) => {
        checkOpen()
        return kept.blobs.write(tenant)
      },
    },
    close: async () => {
      closed = true
    },
  }
}
