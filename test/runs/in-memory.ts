// Stores in memory, one or several on the same one, for corners that have nothing to do with a database.

import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { open, type Store, type StoreOptions } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { later, openIn } from '../support/engines.ts'

export const inMemory = (options: Partial<StoreOptions> = {}): Promise<Store> => openIn(':memory:', options)

/** One store of several processes, each with a backend of its own around it. */
export function shared(now: () => number = Date.now) {
  const kept = freshMemory(now)
  return async (options: Partial<StoreOptions> = {}, around = (backend: Backend) => backend): Promise<Store> => {
    const store = await open({ clock: { now }, ...options, backend: around(handleTo(kept)) })
    later(() => store.close())
    return store
  }
}

export async function count(store: Store, type: string): Promise<number> {
  let times = 0
  for await (const _ of store.events({ types: [type] })) times++
  return times
}

export const session = (store: Store) => store.session('s')
