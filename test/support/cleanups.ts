// Cleanups that a test or a test file registers. The setup file runs them, because several test files share one process and one copy of this module.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { placeInMemory } from './in-memory.ts'
import { LONG } from './rounds.ts'

type Cleanup = () => unknown

const afterTest: Cleanup[] = []
const afterFile: Cleanup[] = []

/** Runs after the test, the last registered first. */
export const later = (cleanup: Cleanup): void => void afterTest.push(cleanup)

/** Runs after the last test of the file, the last registered first. */
export const afterThisFile = (cleanup: Cleanup): void => void afterFile.push(cleanup)

// Processes are killed here, and machines are not, so a short run spares the disk.
const place = (LONG ? undefined : placeInMemory()) ?? tmpdir()

export function tempFolder(): string {
  const folder = mkdtempSync(join(place, 'inkfast-test-'))
  later(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const run = async (cleanups: Cleanup[]): Promise<void> => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

export const cleanUpTest = (): Promise<void> => run(afterTest)

export const cleanUpFile = (): Promise<void> => run(afterFile)
