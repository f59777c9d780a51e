// The peers are installed beside the benchmarks, and only when someone measures: the main install stays small.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const bench = new URL('../', import.meta.url)

/** As installed, not as asked for. */
export function installedPeers(): Readonly<Record<string, string>> {
  const { dependencies } = read<{ dependencies: Record<string, string> }>('package.json')
  return Object.fromEntries(
    Object.keys(dependencies)
      .filter((name) => existsSync(new URL(`node_modules/${name}/package.json`, bench)))
      .map((name) => [name, read<{ version: string }>(`node_modules/${name}/package.json`).version]),
  )
}

/** Undefined when the peers are there, else what stands in the way. */
export function installPeers(say: (line: string) => void): string | undefined {
  if (isComplete()) return undefined
  say('the peers are not installed yet: running npm ci in bench (a minute or two; one of them may have to be compiled)')
  const { status, stderr, error } = spawnSync('npm', ['ci'], {
    cwd: fileURLToPath(bench),
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  })
  if (status === 0 && isComplete()) return undefined
  const reason = error?.message ?? /^npm (?:error|ERR!) (?!code\b)(.+)$/m.exec(stderr)?.[1] ?? `npm ended with ${status}`
  return `the peers could not be installed (${reason}); run npm ci in bench to see all of it, or pass --no-peers to measure without them`
}

/** Each peer at the version of the lock file: an install from before the lock file changed is done again. */
function isComplete(): boolean {
  const { packages } = read<{ packages: Record<string, { version?: string; dependencies?: object }> }>('package-lock.json')
  const installed = installedPeers()
  return Object.keys(packages['']?.dependencies ?? {}).every((name) => installed[name] === packages[`node_modules/${name}`]?.version)
}

function read<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(file, bench), 'utf8')) as T
}
