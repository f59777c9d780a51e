// Where the numbers come from: without this they mean nothing.

import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { installedPeers, type PeerFolder } from './peers.ts'

export interface Machine {
  readonly node: string
  readonly sqlite: string
  readonly cores: number
  readonly processor: string
  readonly memoryGiB: number
  readonly load: number
  readonly peers: Readonly<Record<string, string>>
}

export function machine(peers: PeerFolder): Machine {
  return {
    node: process.versions.node,
    sqlite: process.versions.sqlite ?? 'unknown',
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    peers: installedPeers(peers),
  }
}
