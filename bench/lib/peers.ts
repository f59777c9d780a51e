// The peers are installed beside the benchmarks, and only when someone measures: the main install stays small.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const bench = fileURLToPath(new URL('../', import.meta.url))

/** Undefined when the peers are there, else what stands in the way. */
export function installPeers(say: (line: string) => void): string | undefined {
  if (existsSync(`${bench}node_modules/.package-lock.json`)) return undefined
  say('the peers are not installed yet: running npm ci in bench (a minute or two; one of them is compiled)')
  const { status, stderr, error } = spawnSync('npm', ['ci'], { cwd: bench, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' })
  if (status === 0) return undefined
  const reason = error?.message ?? /npm (?:error|ERR!) (?!code)(.+)/.exec(stderr ?? '')?.[1] ?? `npm ended with ${status}`
  return `the peers could not be installed (${reason}); run npm ci in bench to see all of it, or pass --no-peers to measure without them`
}
