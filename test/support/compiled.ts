// Programs that tests start find the sources compiled: what took six tenths of a second of a core takes two, a thousand times in a run. Most of them are killed
// before they could leave anything behind for the next, so it is done here, once.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inProject } from './project.ts'

export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'inkfast-compiled-'))
  // Workers have it from here, and their programs from them.
  process.env.NODE_COMPILE_CACHE = folder
  const program = `await import(${JSON.stringify(inProject('src', 'index.ts'))})`
  // Nobody waits for it: who comes before it has ended compiles for himself.
  const first = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'ignore' })
  first.unref()
  return () => {
    first.kill()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
