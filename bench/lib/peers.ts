// The peers are installed beside the benchmarks, and only when someone measures: the main install stays small.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const bench = new URL('../', import.meta.url)

/** A folder with a package.json and a lock file: `.` is bench itself. Peers that need other versions of the same thing lie apart. */
export type PeerFolder = '.' | 'postgres' | 'runs' | 'queue' | 'langgraph' | 'recall' | 'messages'

/** As installed, not as asked for. */
export function installedPeers(folder: PeerFolder): Readonly<Record<string, string>> {
  const { dependencies } = read<{ dependencies: Record<string, string> }>(folder, 'package.json')
  return Object.fromEntries(
    Object.keys(dependencies)
      .filter((name) => existsSync(within(folder, `node_modules/${name}/package.json`)))
      .map((name) => [name, read<{ version: string }>(folder, `node_modules/${name}/package.json`).version]),
  )
}

/** Undefined when the peers are there, else what stands in the way. */
export function installPeers(folder: PeerFolder, say: (line: string) => void): string | undefined {
  if (isComplete(folder)) return undefined
  const place = folder === '.' ? 'bench' : `bench/${folder}`
  say(`the peers are not installed yet: running npm ci in ${place} (a minute or two where one of them has to be compiled)`)
  const { status, stderr, error } = spawnSync('npm', ['ci'], {
    cwd: fileURLToPath(within(folder, '')),
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  })
  if (status === 0 && isComplete(folder)) return undefined
  const reason = error?.message ?? /^npm (?:error|ERR!) (?!code\b)(.+)$/m.exec(stderr)?.[1] ?? `npm ended with ${status}`
  return `the peers could not be installed (${reason}); run npm ci in ${place} to see all of it, or pass --no-peers to measure without them`
}

/** Each peer at the version of the lock file: an install from before the lock file changed is done again. */
function isComplete(folder: PeerFolder): boolean {
  const { packages } = read<{ packages: Record<string, { version?: string; dependencies?: object }> }>(folder, 'package-lock.json')
  const installed = installedPeers(folder)
  return Object.keys(packages['']?.dependencies ?? {}).every((name) => installed[name] === packages[`node_modules/${name}`]?.version)
}

const within = (folder: PeerFolder, file: string): URL => new URL(`${folder}/${file}`, bench)

function read<T>(folder: PeerFolder, file: string): T {
  return JSON.parse(readFileSync(within(folder, file), 'utf8')) as T
}
