// The files in a tenant's folder of blobs, by their names: finished ones have a digest, the others `.new-` and an id. A collection removes those
// that have no row, unless a living process uploads them.

import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Disk } from './blob-files.ts'
import { isUploading } from './upload-locks.ts'

export interface FoundFile {
  /** Absent if it has no digest for its name: then its put never finished. */
  readonly digest?: string
  /** Removes it and returns its bytes; 0 if a living process uploads it. Synchronous, for use in a transaction. */
  remove(): number
}

/** The folder of files whose digest is not known yet, and of the locks of their uploads. */
export const UPLOADS = 'uploads'

export async function* foundFiles(disk: Disk, top: string): AsyncGenerator<FoundFile> {
  const uploads = join(top, UPLOADS)
  for (const shard of await namesIn(disk, top)) {
    const folder = join(top, shard)
    for (const name of await namesIn(disk, folder)) {
      const path = join(folder, name)
      if (/^[0-9a-f]{64}$/.test(name)) yield { digest: name, remove: () => (isBeingNamed(folder, name, uploads) ? 0 : removeFile(path)) }
      else if (name.includes(NEW)) yield { remove: () => (isUploading(uploads, idIn(name)) ? 0 : removeFile(path)) }
    }
  }
}

const NEW = '.new-'

export const newName = (path: string, id: string): string => `${path}${NEW}${id}`
const idIn = (name: string): string => name.slice(name.lastIndexOf(NEW) + NEW.length)

/** Whether a living process has given a file its digest for a name, and still enters it into the database. */
const isBeingNamed = (folder: string, digest: string, uploads: string): boolean =>
  readdirSync(folder).some((name) => name.startsWith(newName(digest, '')) && isUploading(uploads, idIn(name)))

function removeFile(path: string): number {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  rmSync(path, { force: true })
  return bytes
}

export const namesIn = async (disk: Disk, folder: string): Promise<readonly string[]> => (await ifThere(() => disk.readdir(folder))) ?? []

/** Undefined if the file or the folder does not exist. */
export async function ifThere<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
