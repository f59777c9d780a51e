// Several processes that append to one database: all of them to one tenant's journal, which is one chain, and each to a tenant of its own.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { open } from '../../src/index.ts'
import { interleave } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import type { Findings, Settings, Workload } from '../lib/workload.ts'
import type { Order, Report } from './node-child.ts'
import { startBenchServer } from './server.ts'

const NODES = 4
const CALLERS = 64

export const nodes: Workload = {
  name: 'nodes',
  title: `append on PostgreSQL from ${NODES} processes, beside one`,
  run: async ({ quick, rounds }: Settings): Promise<Findings> => {
    await using server = await startBenchServer()
    const url = await server.database()
    // Once, before the others come: it brings the schema.
    await (await open(url)).close()
    await using running = await startNodes(url)
    const ms = quick ? 500 : 1500
    const together = async (count: number, tenant: Order['tenant']) => {
      const found = await Promise.all(running.nodes.slice(0, count).map((node) => ask(node, { tenant, ms })))
      return found.reduce((sum, { perSecond }) => sum + perSecond, 0)
    }
    const found = await interleave(rounds, {
      one: () => together(1, 'shared'),
      shared: () => together(NODES, 'shared'),
      own: () => together(NODES, 'own'),
    })
    const beside = (mine: readonly number[]) => ({
      unit: 'ev/s',
      ours: spread(mine),
      peer: spread(found.one),
      peerName: 'one process',
      ratio: ratios(mine, found.one),
    })
    return {
      measures: [
        { what: `${NODES} processes on one tenant, ${CALLERS} callers each`, ...beside(found.shared) },
        { what: `${NODES} processes on ${NODES} tenants, ${CALLERS} callers each`, ...beside(found.own) },
      ],
      notes: [
        server.settings,
        `${ms} ms a turn; the “peer” is one process of ours with ${CALLERS} callers; the rates of the processes are added up`,
        'processes and server share the cores of this machine: with few of them this shows what they cost each other, not what more machines bring',
      ],
    }
  },
}

/** Processes with a store each, open and idle until they are asked. */
async function startNodes(url: string): Promise<{ readonly nodes: readonly ChildProcess[] } & AsyncDisposable> {
  const script = fileURLToPath(new URL('node-child.ts', import.meta.url))
  const nodes = Array.from({ length: NODES }, (_, i) => fork(script, [url, String(i), String(CALLERS)]))
  const stop = async () => {
    await Promise.all(
      nodes.map(async (node) => {
        if (node.exitCode !== null || node.signalCode !== null) return
        const gone = once(node, 'exit')
        if (node.connected) node.disconnect()
        await gone
      }),
    )
  }
  try {
    for (const node of nodes) await answer(node)
  } catch (error) {
    await stop()
    throw error
  }
  return { nodes, [Symbol.asyncDispose]: stop }
}

async function ask(node: ChildProcess, order: Order): Promise<Report> {
  const answered = answer(node)
  node.send(order)
  return answered
}

/** What a process says next; one that ends instead has said why on standard error. */
function answer(node: ChildProcess): Promise<Report> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`a process of the benchmark ended with ${code}`))
    if (node.exitCode !== null) return ended(node.exitCode)
    node.once('exit', ended)
    node.once('message', (report) => {
      node.off('exit', ended)
      resolve(report as Report)
    })
  })
}
