// Where the numbers come from: without this they mean nothing.

import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'

export interface Machine {
  readonly node: string
  readonly sqlite: string
  readonly cores: number
  readonly processor: string
  readonly memoryGiB: number
  readonly load: number
  readonly peers: Readonly<Record<string, string>>
}

export function machine(): Machine {
  return {
    node: process.versions.node,
    sqlite: process.versions.sqlite ?? 'unknown',
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    peers: peerVersions(),
  }
}

/** As installed, not as asked for. */
function peerVersions(): Record<string, string> {
  const bench = new URL('../', import.meta.url)
  const wanted = Object.keys((JSON.parse(readFileSync(new URL('package.json', bench), 'utf8')) as { dependencies: object }).dependencies)
  const file = (name: string) => new URL(`node_modules/${name}/package.json`, bench)
  return Object.fromEntries(
    wanted
      .filter((name) => existsSync(file(name)))
      .map((name) => [name, (JSON.parse(readFileSync(file(name), 'utf8')) as { version: string }).version]),
  )
}
