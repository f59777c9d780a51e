// A backend whose statements are seen as they go by, and items to change with them.

import { backendOn } from '../../src/backends/postgres/backend.ts'
import type { Connections, Step } from '../../src/backends/postgres/connections.ts'
import { openOver } from '../../src/backends/postgres/open.ts'
import { pooled } from '../../src/backends/postgres/pool.ts'
import { type maker, put } from '../../src/conformance/material.ts'
import { MAIN } from '../../src/model/ids.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Commit, Outcome } from '../../src/ports/commit.ts'
import { later } from '../support/engines.ts'

export const isPlain = (text: string): boolean => text.includes('move_head_v1')
export const isFunction = (text: string): boolean => text.includes('commit_v1')

/** Tells which statements went by, and may change them on their way. */
export async function watched(
  url: string,
  seen: (text: string) => void,
  change: (text: string) => string = (text) => text,
): Promise<Backend> {
  const real = pooled({ url, connections: 2 })
  const through = (steps: readonly Step[]): readonly Step[] =>
    steps.map((step) => {
      seen(step.text)
      return { ...step, text: change(step.text) }
    })
  const connections: Connections = {
    ...real,
    acquire: async () => {
      const connection = await real.acquire()
      return { ...connection, run: (steps, timeoutMs) => connection.run(through(steps), timeoutMs) }
    },
  }
  const backend = backendOn(await openOver({ url }, connections), { url })
  later(() => backend.close())
  return backend
}

/** An item in the state it is asked for, if it is still as it was seen. */
export const item = (make: ReturnType<typeof maker>, id: string, revision: number, state: string | undefined): Commit =>
  make.commit(MAIN, {
    guards: [{ kind: 'row', table: 'work', id, revision }],
    changes: [
      state === undefined ? { kind: 'remove', table: 'work', id } : put('work', id, { queue: 'q', state, at: revision, priority: 0 }),
    ],
  })

export const seqOf = (outcome: Outcome | undefined): number => (outcome?.ok ? (outcome.receipts[0]?.seq ?? 0) : 0)
