// The open files of a folder, opened on demand and limited in number. Callers hold the files they use. Of the others, the least recently
// used one is closed first.

import { join } from 'node:path'
import { refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import type { SqliteBackend } from './backend.ts'
import { isThere } from './open.ts'
import { tenantFile } from './tenant-files.ts'

export interface HeldFile {
  readonly backend: SqliteBackend
  /** Call once; after that the file may be closed. */
  release(): void
}

interface OpenFile {
  readonly opening: Promise<SqliteBackend>
  backend: SqliteBackend | undefined
  holders: number
}

export class OpenFiles {
  readonly folder: string
  readonly #open: (path: string, tenant: TenantId, create: boolean) => Promise<SqliteBackend>
  readonly #most: number
  // Ordered by last use.
  readonly #files = new Map<TenantId, OpenFile>()
  readonly #closing = new Set<Promise<void>>()
  #closed = false
  #failure: string | undefined

  constructor(folder: string, most: number, open: (path: string, tenant: TenantId, create: boolean) => Promise<SqliteBackend>) {
    this.folder = folder
    this.#most = most
    this.#open = open
  }

  pathOf(tenant: TenantId): string {
    return join(this.folder, tenantFile(tenant))
  }

  isThere(tenant: TenantId): boolean {
    return this.#files.has(tenant) || isThere(this.pathOf(tenant))
  }

  get size(): number {
    return this.#files.size
  }

  /** Why the last evicted file could not be closed properly. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** Tenants whose files are open or being opened. */
  tenants(): readonly TenantId[] {
    return [...this.#files.keys()]
  }

  /** The files that are open already. */
  opened(): readonly SqliteBackend[] {
    return [...this.#files.values()].map((file) => file.backend).filter((backend) => backend !== undefined)
  }

  /** Returns `undefined` if there is no file, unless `create` is set. */
  async hold(tenant: TenantId, create = false): Promise<HeldFile | undefined> {
    if (this.#closed) throw refuse('STORE_CLOSED')
    const file = this.#files.get(tenant) ?? this.#begin(tenant, create)
    if (!file) return undefined
    this.#files.delete(tenant)
    this.#files.set(tenant, file)
    file.holders++
    try {
      const backend = await file.opening
      this.#makeRoom()
      return { backend, release: this.#releaseOf(file) }
    } catch (error) {
      // The next caller tries again.
      if (this.#files.get(tenant) === file) this.#files.delete(tenant)
      throw error
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const files = [...this.#files.values()]
    this.#files.clear()
    await Promise.all([...files.map(async ({ opening }) => (await opening.catch(() => undefined))?.close()), ...this.#closing])
  }

  #begin(tenant: TenantId, create: boolean): OpenFile | undefined {
    const path = this.pathOf(tenant)
    if (!create && !isThere(path)) return undefined
    const file: OpenFile = { opening: this.#open(path, tenant, create), backend: undefined, holders: 0 }
    file.opening.then(
      (backend) => {
        file.backend = backend
      },
      () => 'told to whoever holds it',
    )
    return file
  }

  #releaseOf(file: OpenFile): () => void {
    let held = true
    return () => {
      if (held) file.holders--
      held = false
      this.#makeRoom()
    }
  }

  // Runs in the background: acknowledged commits are in the log, and the next process that opens the file reads it. Health reports a
  // failure.
  async #leave(backend: SqliteBackend): Promise<void> {
    try {
      await backend.close()
      this.#failure = undefined
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error)
    }
  }

  #makeRoom(): void {
    for (const [tenant, file] of this.#files) {
      if (this.#files.size <= this.#most) return
      if (file.holders > 0 || !file.backend) continue
      this.#files.delete(tenant)
      const closing = this.#leave(file.backend).finally(() => this.#closing.delete(closing))
      this.#closing.add(closing)
    }
  }
}
