// Blobs as files in a folder beside the database. A blob is written under a temporary name, flushed, and then renamed to its digest. After
// a crash it is either complete or absent, besides files whose names say so: `….new-<id>`. A collection may delete such a file, unless a living
// process holds the lock of that id.

import { randomBytes } from 'node:crypto'
import { rmSync, type Stats, statSync } from 'node:fs'
import * as files from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TenantId } from '../../model/ids.ts'
import { fileError } from './failures.ts'
import { type FoundFile, foundFiles, ifThere, isMissing, namesIn, newName, UPLOADS } from './found-files.ts'
import { tenantFolder } from './tenant-files.ts'
import { lockUpload } from './upload-locks.ts'

/** The file system calls used, so that a test can watch them and cut the power in between. */
export type Disk = Pick<typeof files, 'mkdir' | 'open' | 'readdir' | 'readFile' | 'rename' | 'rm' | 'stat'>

export interface FilePart {
  readonly start: number
  readonly size: number
}

/** A file under a temporary name. */
export interface NewBlobFile {
  readonly path: string
  add(bytes: Uint8Array): Promise<void>
  /** Flushes and closes it. */
  flush(): Promise<void>
  drop(): Promise<void>
}

/** A file with a lock, which keeps it from collections until it is dropped, also once it was adopted. */
export interface UploadFile extends NewBlobFile {
  readonly id: string
}

export interface BlobMeasure {
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

  /**
   * Resolves once the bytes and names are on disk, whichever process wrote them. An existing file of the right size is kept. False if a collection
   * took the file for one of a dead process: a lock for every put would cost more than to write a few again.
   */
  async put(tenant: TenantId, digest: string, bytes: Uint8Array): Promise<boolean> {
    const path = this.#pathOf(tenant, digest)
    return this.#told(async () => {
      if ((await this.#statOf(path))?.size !== bytes.length && !(await this.#write(path, bytes))) return false
      await this.#flushNames(dirname(path))
      return true
    })
  }

  async get(tenant: TenantId, digest: string): Promise<Uint8Array | undefined> {
    return this.#told(() => ifThere(async () => plainBytes(await this.#disk.readFile(this.#pathOf(tenant, digest)))))
  }

  /** A part of a blob's file: fewer bytes if the file ends before. Undefined if there is no file. */
  async read(tenant: TenantId, digest: string, { start, size }: FilePart): Promise<Uint8Array | undefined> {
    const reading = async (): Promise<Uint8Array> => {
      const file = await this.#disk.open(this.#pathOf(tenant, digest), 'r')
      try {
        const bytes = new Uint8Array(size)
        let end = 0
        for (let read = 1; read > 0 && end < size; end += read) read = (await file.read(bytes, end, size - end, start + end)).bytesRead
        return bytes.subarray(0, end)
      } finally {
        await file.close()
      }
    }
    return this.#told(() => ifThere(reading))
  }

  /** Begins a file whose digest is not known yet. */
  async create(tenant: TenantId): Promise<UploadFile> {
    const folder = join(this.#folder, tenantFolder(tenant), UPLOADS)
    return this.#told(async () => {
      const mode = await this.#mode()
      await this.#makeFolder(folder, mode)
      const lock = lockUpload(folder, mode)
      try {
        const file = await this.#create(join(folder, 'upload'), lock.id)
        const drop = async (): Promise<void> => {
          await file.drop()
          lock.release()
        }
        return {
          id: lock.id,
          path: file.path,
          add: (bytes) => this.#told(() => file.add(bytes)),
          flush: () => this.#told(file.flush),
          drop: () => this.#told(drop),
        }
      } catch (error) {
        lock.release()
        throw error
      }
    })
  }

  /** Names a file that was created. Calls `enter` once its bytes and names are on disk; until it resolves, collections leave the file alone. */
  async adopt<T>(tenant: TenantId, digest: string, file: UploadFile, enter: () => Promise<T>): Promise<T> {
    const path = this.#pathOf(tenant, digest)
    const note = newName(path, file.id)
    return this.#told(async () => {
      try {
        await file.flush()
        const mode = await this.#mode()
        await this.#makeFolder(dirname(path), mode)
        // The digest does not tell whose file it is.
        await (await this.#disk.open(note, 'wx', mode)).close()
        await this.#disk.rename(file.path, path)
        await this.#flushNames(dirname(path))
        return await enter()
      } finally {
        await this.#disk.rm(note, { force: true })
      }
    })
  }

  /** Size of a blob's file; undefined if there is none. Synchronous, for use in a transaction. */
  sizeOf(tenant: TenantId, digest: string): number | undefined {
    try {
      return statSync(this.#pathOf(tenant, digest), { throwIfNoEntry: false })?.size
    } catch (error) {
      throw fileError(this.#like, error)
    }
  }

  /** Deletes a blob's file. Synchronous, for use in a transaction. */
  remove(tenant: TenantId, digest: string): void {
    try {
      rmSync(this.#pathOf(tenant, digest), { force: true })
    } catch (error) {
      throw fileError(this.#like, error)
    }
  }

  /** All files of a tenant: of finished blobs, and of puts that are under way or never finished. */
  async *found(tenant: TenantId): AsyncGenerator<FoundFile> {
    try {
      yield* foundFiles(this.#disk, join(this.#folder, tenantFolder(tenant)))
    } catch (error) {
      throw fileError(this.#like, error)
    }
  }

  /** Measures the files of all tenants, temporary files among them. */
  async measure(): Promise<BlobMeasure> {
    return this.#told(async () => {
      let bytes = 0
      for (const tenant of await namesIn(this.#disk, this.#folder)) {
        for (const shard of await namesIn(this.#disk, join(this.#folder, tenant))) {
          const folder = join(this.#folder, tenant, shard)
          const names = await namesIn(this.#disk, folder)
          for (const stat of await inTurns(names, (name) => this.#statOf(join(folder, name)))) bytes += stat?.size ?? 0
        }
      }
      return { bytes }
    })
  }

  #pathOf(tenant: TenantId, digest: string): string {
    return join(this.#folder, tenantFolder(tenant), digest.slice(0, 2), digest)
  }

  async #told<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw fileError(this.#like, error)
    }
  }

  #statOf(path: string): Promise<Stats | undefined> {
    return ifThere(() => this.#disk.stat(path))
  }

  async #write(path: string, bytes: Uint8Array): Promise<boolean> {
    const file = await this.#create(path)
    try {
      await file.add(bytes)
      await file.flush()
      await this.#disk.rename(file.path, path)
      return true
    } catch (error) {
      await file.drop()
      if (isMissing(error)) return false
      throw error
    }
  }

  async #mode(): Promise<number> {
    return (await this.#disk.stat(this.#like)).mode & 0o666
  }

  /** A new file beside this path, under a temporary name. */
  async #create(beside: string, id = randomBytes(6).toString('hex')): Promise<NewBlobFile> {
    const mode = await this.#mode()
    await this.#makeFolder(dirname(beside), mode)
    const path = newName(beside, id)
    const file = await this.#disk.open(path, 'wx', mode)
    let open = true
    const close = async (): Promise<void> => {
      if (!open) return
      open = false
      await file.close()
    }
    return {
      path,
      add: (bytes) => file.writeFile(bytes),
      // Flush before the rename: after a power cut, a file system may keep the name and lose the bytes.
      flush: async () => {
        if (open) await file.sync()
        await close()
      },
      drop: async () => {
        await close()
        await this.#disk.rm(path, { force: true })
      },
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
