// Cleanups that a test or a test file registers. The setup file runs them, because several test files share one process and one copy of this module.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Cleanup = () => unknown

const afterTest: Cleanup[] = []
const afterFile: Cleanup[] = []

/** Runs after the test, the last registered first. */
export const later = (cleanup: Cleanup): void => void afterTest.push(cleanup)

/** Runs after the last test of the file, the last registered first. */
export const afterThisFile = (cleanup: Cleanup): void => void afterFile.push(cleanup)

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inkfast-test-'))
  later(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const run = async (cleanups: Cleanup[]): Promise<void> => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

export const cleanUpTest = (): Promise<void> => run(afterTest)

export const cleanUpFile = (): Promise<void> => run(afterFile)
