// Sees to it that a server does not outlive the process that started it, however that one ends: kill -9 leaves no time for a farewell.

import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Keeper {
  /** The process to end when we are gone; undefined when there is none. */
  watch(pid: number | undefined): void
  /** Nothing is left to keep. */
  dismiss(): Promise<void>
}

// It reads from a pipe that only we write to, so the system tells it of our end. Its last line is the process to end, then the folders go.
const SCRIPT = `
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then
  kill -CONT "$pid"
  kill -QUIT "$pid"
  tries=50
  while kill -0 "$pid" && [ $tries -gt 0 ]; do sleep 0.1; tries=$((tries - 1)); done
  kill -KILL "$pid"
fi
rm -rf "$@"
`

export function startKeeper(...folders: readonly string[]): Keeper {
  // In a group of its own: an interrupt at the terminal must not take the keeper before the kept.
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'keeper', ...folders], { stdio: ['pipe', 'ignore', 'ignore'], cwd: '/', detached: true })
  const gone = once(shell, 'exit')
  shell.unref()
  // The pipe is a socket, whatever the types say, and must not keep us alive either.
  const pipe = shell.stdin as typeof shell.stdin & { unref(): void }
  pipe.unref()
  return {
    watch: (pid) => void pipe.write(`${pid ?? ''}\n`),
    dismiss: async () => {
      shell.ref()
      pipe.end()
      await gone
    },
  }
}
