// A node that is paused past its lease wakes up and believes that it still has it. The fence knows better.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { maker, put } from '../../src/conformance/material.ts'
import { MAIN } from '../../src/model/ids.ts'
import { later, moveTime, tempDatabase } from '../support/engines.ts'
import { programAt } from '../support/programs.ts'

const LEASE_MS = 30_000

/** Takes the lease in a process of its own, which can be paused. */
async function startHolder(url: string) {
  const child = spawn(process.execPath, [programAt(new URL('./holder.ts', import.meta.url)), url, String(LEASE_MS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  later(() => child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const hear = async (word: string): Promise<unknown> => {
    const { value } = await lines.next()
    const [said, what] = JSON.parse(value ?? '[]') as [string, unknown]
    expect(said).toBe(word)
    return what
  }
  return {
    fence: (await hear('fence')) as number,
    pause: () => child.kill('SIGSTOP'),
    wake: () => child.kill('SIGCONT'),
    write: (how: 'guarded' | 'bare') => void child.stdin.write(`${how}\n`),
    written: () => hear('wrote'),
    end: () => child.stdin.end(),
  }
}

test('a node that was paused past its lease is refused by the fence, and would have written without it', async () => {
  const url = await tempDatabase()
  const backend = await postgresBackend({ url })
  later(() => backend.close())
  const holder = await startHolder(url)
  holder.write('guarded')
  expect(await holder.written()).toBe('saved')
  holder.pause()
  // This goes out while it sleeps, and is the first thing it does.
  holder.write('guarded')

  const timeLeft = async (): Promise<number> => {
    const { now, leases } = await backend.leases.read(MAIN, ['job'])
    expect(leases).toMatchObject([{ id: 'job', fence: holder.fence }])
    return (leases[0]?.until ?? 0) - now
  }
  expect(await timeLeft()).toBeGreaterThan(0)
  await moveTime(url, LEASE_MS)
  expect(await timeLeft()).toBeLessThanOrEqual(0)
  const make = maker(2)
  const lease = await backend.rows.get(MAIN, 'leases', 'job')
  const guards = [{ kind: 'row', table: 'leases', id: 'job', revision: lease?.revision ?? 0 } as const]
  const [taken] = await backend.commit([
    make.commit(MAIN, { guards, changes: [put('leases', 'job', { owner: 'next' }, { grants: true })] }),
  ])
  const fence = taken?.ok ? taken.receipts[0]?.seq : undefined
  expect(fence).toBeGreaterThan(holder.fence)

  const { seq } = await backend.journal.head(MAIN)
  holder.wake()
  expect(await holder.written()).toEqual({ kind: 'fence', table: 'leases', id: 'job', fence: holder.fence })
  expect((await backend.journal.head(MAIN)).seq).toBe(seq)

  holder.write('bare')
  expect(await holder.written()).toBe('saved')
  expect((await backend.journal.head(MAIN)).seq).toBe(seq + 1)
  holder.end()
})
