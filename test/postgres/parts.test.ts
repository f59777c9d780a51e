// A batch of which a part is saved and the rest fails is never told as a refusal of all of it: nobody who believes that may write it twice.

import { expect, test } from 'vitest'
import { backendOn } from '../../src/backends/postgres/backend.ts'
import type { Connection, Connections } from '../../src/backends/postgres/connections.ts'
import { openOver } from '../../src/backends/postgres/open.ts'
import { pooled } from '../../src/backends/postgres/pool.ts'
import { keyOf, MAIN, maker, put } from '../../src/conformance/material.ts'
import { InkError } from '../../src/model/errors.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { later, tempDatabase } from '../support/engines.ts'

/** Fails the writes that `when` picks, as the server would. */
async function backendThat(when: (call: number) => string | undefined): Promise<Backend> {
  const url = await tempDatabase()
  const real = pooled({ url, connections: 2 })
  let calls = 0
  const failing = (connection: Connection): Connection => ({
    ...connection,
    run: async (steps, timeoutMs) => {
      const state = steps.some(({ text }) => /commit_v1|move_head_v1/.test(text)) ? when(++calls) : undefined
      if (state) throw Object.assign(new Error('as the server would say'), { code: state })
      return connection.run(steps, timeoutMs)
    },
  })
  const connections: Connections = { ...real, acquire: async () => failing(await real.acquire()) }
  const backend = backendOn(await openOver({ url }, connections), { url })
  later(() => backend.close())
  return backend
}

const definite = (error: unknown): boolean => error instanceof InkError && error.kind !== 'unknown'

test('a batch of which a later part waits too long for a lock has an unknown outcome', async () => {
  const make = maker()
  // Two commits on one row are two parts; the second is refused by the server.
  const backend = await backendThat((call) => (call === 2 ? '55P03' : undefined))
  const batch = [1, 2].map(() => make.commit(MAIN, { changes: [put('names', 'n')] }))
  const error = await backend.commit(batch).catch((thrown: unknown) => thrown)
  expect((await backend.journal.head(MAIN)).seq).toBe(1)
  expect(definite(error)).toBe(false)
})

test('a batch that is tried commit by commit has an unknown outcome when one of them waits too long', async () => {
  const make = maker()
  // The batch chokes as a whole; then the first is saved and the second is refused.
  const backend = await backendThat((call) => (call === 1 ? '22000' : call === 3 ? '55P03' : undefined))
  const error = await backend.commit(make.commits(MAIN, 3)).catch((thrown: unknown) => thrown)
  expect((await backend.journal.head(MAIN)).seq).toBe(1)
  expect(definite(error)).toBe(false)
})

test('a batch of which nothing was saved is refused: the control', async () => {
  const make = maker()
  const backend = await backendThat((call) => (call === 1 ? '55P03' : undefined))
  const error = await backend.commit(make.commits(MAIN, 3)).catch((thrown: unknown) => thrown)
  expect((await backend.journal.head(MAIN)).seq).toBe(0)
  expect(error).toMatchObject({ code: 'DATABASE_BUSY' })
})

test('a repeated commit is answered in the same round trip as new ones', async () => {
  const make = maker()
  let calls = 0
  const backend = await backendThat(() => {
    calls++
    return undefined
  })
  const keyed = make.commit(MAIN, { key: keyOf(MAIN, 'k'), events: [make.draft(MAIN), make.draft(MAIN)] })
  const [first] = await backend.commit([keyed])
  const before = calls
  const [again, fresh] = await backend.commit([keyed, make.commit(MAIN)])
  expect(calls).toBe(before + 1)
  expect(again).toMatchObject({ ok: true, repeated: true, receipts: first?.ok ? first.receipts : [] })
  expect(fresh).toMatchObject({ ok: true, repeated: false })
})
