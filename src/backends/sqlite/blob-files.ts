// Blobs as files in a folder beside the database. A blob is written under a temporary name, flushed, and then renamed to its digest. After
// a crash it is either complete or absent, besides a temporary file whose name says so.

import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import * as files from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TenantId } from '../../model/ids.ts'
import { fileError } from './failures.ts'
import { tenantFolder } from './tenant-files.ts'

/** The file system calls used, so that a test can watch them and cut the power in between. */
export type Disk = Pick<typeof files, 'mkdir' | 'open' | 'readdir' | 'readFile' | 'rename' | 'rm' | 'stat'>

export interface BlobMeasure {
  readonly blobs: number
  readonly bytes: number
}

// Enough for all folders of forty busy tenants. A forgotten folder costs one more flush.
const FOLDERS_REMEMBERED = 10_000
// Limits concurrent calls when hundreds of files are checked.
const ASKED_AT_ONCE = 64

export class BlobFiles {
  readonly #folder: string
  readonly #like: string
  readonly #disk: Disk
  /** Folders whose own directory entries are on disk. */
  readonly #flushed = new Set<string>()

  /** Blobs get the permissions of the file `like`: they hold data that would be in it if it were small. */
  constructor(folder: string, like: string, disk: Disk = files) {
    this.#folder = folder
    this.#like = like
    this.#disk = disk
  }

  /** Resolves once the bytes and names are on disk, whichever process wrote them. An existing file of the right size is kept. */
  async put(tenant: TenantId, digest: string, bytes: Uint8Array): Promise<void> {
    const path = this.#pathOf(tenant, digest)
    try {
      if ((await this.#statOf(path))?.size !== bytes.length) await this.#write(path, bytes)
      await this.#flushNames(dirname(path))
    } catch (error) {
      throw fileError(this.#like, error)
    }
  }

  async get(tenant: TenantId, digest: string): Promise<Uint8Array | undefined> {
    try {
      return plainBytes(await this.#disk.readFile(this.#pathOf(tenant, digest)))
    } catch (error) {
      if (isMissing(error)) return undefined
      throw fileError(this.#like, error)
    }
  }

  async has(tenant: TenantId, digests: readonly string[]): Promise<readonly boolean[]> {
    try {
      const found = await inTurns(digests, (digest) => this.#statOf(this.#pathOf(tenant, digest)))
      return found.map((stat) => stat?.isFile() ?? false)
    } catch (error) {
      throw fileError(this.#like, error)
    }
  }

  /** Measures the blobs of all tenants. Temporary files count as bytes, not as blobs. */
  async measure(): Promise<BlobMeasure> {
    let [blobs, bytes] = [0, 0]
    try {
      for (const tenant of await this.#namesIn(this.#folder)) {
        for (const shard of await this.#namesIn(join(this.#folder, tenant))) {
          const folder = join(this.#folder, tenant, shard)
          const names = await this.#namesIn(folder)
          for (const stat of await inTurns(names, (name) => this.#statOf(join(folder, name)))) bytes += stat?.size ?? 0
          blobs += names.filter((name) => !name.includes('.')).length
        }
      }
      return { blobs, bytes }
    } catch (error) {
      throw fileError(this.#like, error)
    }
  }

  #pathOf(tenant: TenantId, digest: string): string {
    return join(this.#folder, tenantFolder(tenant), digest.slice(0, 2), digest)
  }

  async #statOf(path: string): Promise<Stats | undefined> {
    try {
      return await this.#disk.stat(path)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  async #namesIn(folder: string): Promise<readonly string[]> {
    try {
      return await this.#disk.readdir(folder)
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    const mode = (await this.#disk.stat(this.#like)).mode & 0o666
    await this.#makeFolder(dirname(path), mode)
    const beside = `${path}.new-${randomBytes(6).toString('hex')}`
    try {
      const file = await this.#disk.open(beside, 'wx', mode)
      try {
        await file.writeFile(bytes)
        // Flush before the rename: after a power cut, a file system may keep the name and lose the bytes.
        await file.sync()
      } finally {
        await file.close()
      }
      await this.#disk.rename(beside, path)
    } catch (error) {
      await this.#disk.rm(beside, { force: true })
      throw error
    }
  }

  async #makeFolder(folder: string, mode: number): Promise<void> {
    // A readable folder must also be enterable.
    const made = await this.#disk.mkdir(folder, { recursive: true, mode: mode | ((mode & 0o444) >> 2) })
    // The folder was removed and created again, so its entry must be flushed again.
    if (made !== undefined) for (const one of this.#upwards(folder)) if (one.length >= made.length) this.#flushed.delete(one)
  }

  /**
   * A blob's name is on disk once its folder is flushed, and a folder's name once its parent is. This includes folders of other puts and
   * processes, which may not have flushed them yet.
   */
  async #flushNames(folder: string): Promise<void> {
    await this.#flush(folder)
    const unsure = this.#upwards(folder).filter((one) => !this.#flushed.has(one))
    for (const one of unsure) await this.#flush(dirname(one))
    if (this.#flushed.size > FOLDERS_REMEMBERED) this.#flushed.clear()
    for (const one of unsure) this.#flushed.add(one)
  }

  async #flush(folder: string): Promise<void> {
    const handle = await this.#disk.open(folder, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }

  /** The folder of a blob, and the folders of ours above it. */
  #upwards(folder: string): readonly string[] {
    return [folder, dirname(folder), this.#folder]
  }
}

async function inTurns<T, U>(items: readonly T[], ask: (item: T) => Promise<U>): Promise<readonly U[]> {
  const answers: U[] = []
  for (let at = 0; at < items.length; at += ASKED_AT_ONCE) {
    answers.push(...(await Promise.all(items.slice(at, at + ASKED_AT_ONCE).map(ask))))
  }
  return answers
}

/** Copies the bytes if Node returned a view of a shared buffer. */
const plainBytes = (read: Buffer<ArrayBuffer>): Uint8Array =>
  read.length === read.buffer.byteLength ? new Uint8Array(read.buffer) : new Uint8Array(read)

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code

const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT'
