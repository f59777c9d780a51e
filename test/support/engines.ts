// Both engines a promise must hold on, each opened fresh in a folder that goes away with the test.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { open, type Store, type StoreOptions } from '../../src/index.ts'

export interface Engine {
  readonly name: 'memory' | 'sqlite'
  open(options?: Partial<StoreOptions>): Promise<Store>
}

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

export const later = (cleanup: () => unknown): void => void cleanups.push(cleanup)

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inkfast-test-'))
  later(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export const tempFile = (name = 'agents.db'): string => join(tempFolder(), name)

export async function openIn(url: string, options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await open({ ...options, url })
  later(() => store.close())
  return store
}

export const engines: readonly Engine[] = [
  { name: 'memory', open: (options) => openIn(':memory:', options) },
  { name: 'sqlite', open: (options) => openIn(tempFile(), options) },
]

/** Ends a test as the larger ones should: the journal is intact and the rows are its fold. */
export async function expectSound(store: Store): Promise<void> {
  for (const tenant of await store.tenants()) {
    const report = await store.tenant(tenant).verify()
    if (!report.intact) throw new Error(`tenant ${tenant}: ${report.reason} at ${report.brokenAt}`)
    const rebuilt = await store.tenant(tenant).rebuild({ check: true })
    if (!rebuilt.equal) throw new Error(`tenant ${tenant}: rows differ: ${JSON.stringify(rebuilt.differences[0])}`)
  }
}

export const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error) => error.code ?? String(error),
  )
