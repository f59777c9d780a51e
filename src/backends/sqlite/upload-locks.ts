// Locks of uploads. A stream cannot be put again, so nobody may delete its file while its process lives, however long it pauses. The process
// therefore holds a lock of the operating system, which ends with it however it dies: in a container, on any system, at a reboot. Node has no such
// locks, but SQLite does: an empty file, in an exclusive transaction that never writes.

import { randomBytes } from 'node:crypto'
import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isBusy } from './failures.ts'

export interface UploadLock {
  readonly id: string
  /** Removes the lock's file as well. Call it once nothing is left that has the id in its name. */
  release(): void
}

const pathOf = (folder: string, id: string): string => join(folder, `lock.new-${id}`)

/** Take it before making any file with its id in the name. */
export function lockUpload(folder: string, mode: number): UploadLock {
  for (;;) {
    const id = randomBytes(6).toString('hex')
    const path = pathOf(folder, id)
    closeSync(openSync(path, 'wx', mode))
    const lock = hold(path)
    // A collection that came in between took it for the lock of a dead process, and has it or has removed it.
    if (lock && isThere(path)) return { id, release: once(() => letGo(lock, path)) }
    lock?.close()
  }
}

/** Whether the process that took the lock lives. If not, its lock is removed. */
export function isUploading(folder: string, id: string): boolean {
  const path = pathOf(folder, id)
  if (!isThere(path)) return false
  const lock = hold(path)
  if (!lock) return true
  letGo(lock, path)
  return false
}

/** The file goes while the lock is held, so nobody takes a lock on a file that is gone. */
function letGo(lock: DatabaseSync, path: string): void {
  rmSync(path, { force: true })
  lock.close()
}

function once(work: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    work()
  }
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

/** Undefined if another connection has it. */
function hold(path: string): DatabaseSync | undefined {
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    // No journal lies beside it.
    lock.exec('pragma journal_mode = memory; begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    if (isBusy(error)) return undefined
    throw error
  }
}
