// A measurement in a process of its own: nothing warm, nothing left over, and a memory that holds only what is measured.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Runs a script of ours and reads the JSON it prints. */
export async function inChild<T>(script: URL, ...args: readonly string[]): Promise<T> {
  const { stdout } = await run(process.execPath, [fileURLToPath(script), ...args], { maxBuffer: 2 ** 24 })
  return JSON.parse(stdout) as T
}
