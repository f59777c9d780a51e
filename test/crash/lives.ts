// The lives of a program that is killed.

import { spawn } from 'node:child_process'
import { programAt } from '../support/programs.ts'

/**
 * Starts the program with these arguments. It prints `b` at each step, and `done` at its end. It is killed after so many steps, or left alone.
 * Says whether it came to its end.
 */
export const lives =
  (program: URL) =>
  (words: readonly string[], steps?: number): Promise<boolean> => {
    const child = spawn(process.execPath, [programAt(program), ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
      if (steps !== undefined && said.split('b').length > steps) child.kill('SIGKILL')
    })
    return new Promise((resolve, reject) =>
      child.on('close', (code, signal) =>
        signal === 'SIGKILL' || code === 0 ? resolve(said.includes('done')) : reject(new Error(`the program ended by itself with ${code}`)),
      ),
    )
  }
