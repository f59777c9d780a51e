// A transaction is built again for what it has read, and for nothing else.

import { expect, test } from 'vitest'
import { memoryBackend } from '../../backends/memory/backend.ts'
import { nodeEnvironment } from '../../environment.ts'
import { InkError } from '../../model/errors.ts'
import { MAIN } from '../../model/ids.ts'
import type { SessionRow } from '../../model/session.ts'
import type { Backend } from '../../ports/backend.ts'
import { createEngine } from '../engine.ts'
import { openNamed } from '../features/sessions/open-session.ts'
import { session as decider } from '../features/sessions/session-decider.ts'
import { features } from '../features.ts'
import type { Scope } from '../wiring/scope.ts'
import { plan } from './execute.ts'
import { type DoneRow, part, readAhead, readRow } from './part.ts'
import { type Build, beforehand, transact } from './transact.ts'

async function openScope(backend = memoryBackend(nodeEnvironment)): Promise<Scope> {
  const engine = await createEngine(backend, nodeEnvironment, {}, features, new AbortController().signal, () => {})
  return { engine, tenant: MAIN, actor: '' }
}

const titleOf = ([row]: readonly DoneRow[]): string | undefined => (row?.body as SessionRow | undefined)?.title

/** Another process: a commit past the mutex of this one. */
async function renamedElsewhere(scope: Scope, id: SessionRow['id'], title: string): Promise<void> {
  const elsewhere = { ...scope, engine: { ...scope.engine, rowMutex: (await openScope()).engine.rowMutex } }
  await plan(elsewhere, [part(decider, id, { verb: 'rename', id, title }, { session: id })])
}

test('a transaction whose row another process changed is built again from what is there now', async () => {
  const scope = await openScope()
  const { row } = await openNamed(scope, 'k', { title: 'a' })
  const rounds: boolean[] = []
  const build: Build<string | undefined> = async (scope, { again }) => {
    rounds.push(again)
    const seen = await readRow(scope, 'sessions', row.id)
    if (!again) await renamedElsewhere(beforehand(scope), row.id, 'b')
    const command = { verb: 'rename', id: row.id, title: `${seen.body?.title}!` } as const
    return { parts: [part(decider, row.id, command, { session: row.id, seen })], committed: titleOf }
  }
  expect(await transact(scope, build)).toBe('b!')
  expect(rounds).toEqual([false, true])
})

test('a transaction reads each row once, rows that are known before together, and all of them again for the next attempt', async () => {
  const real = memoryBackend(nodeEnvironment)
  const calls: string[] = []
  const rows: Backend['rows'] = {
    ...real.rows,
    get: (tenant, table, id) => {
      calls.push('one')
      return real.rows.get(tenant, table, id)
    },
    getMany: (tenant, keys) => {
      calls.push(`${keys.length} together`)
      return real.rows.getMany(tenant, keys)
    },
  }
  const scope = await openScope({ ...real, rows })
  const ids = [(await openNamed(scope, 'one')).row.id, (await openNamed(scope, 'two')).row.id]
  let attempts = 0
  await transact(scope, async (scope, { again }) => {
    calls.length = 0
    attempts++
    readAhead(
      scope,
      ids.map((id) => ({ table: 'sessions', id })),
    )
    for (const id of [...ids, ...ids]) await readRow(scope, 'sessions', id)
    expect(calls).toEqual(['2 together'])
    if (!again) await renamedElsewhere(beforehand(scope), ids[0] as SessionRow['id'], 'b')
    calls.length = 0
    return { parts: ids.map((id) => part(decider, id, { verb: 'rename', id, title: 'c' }, { session: id })) }
  })
  expect(attempts).toBe(2)
  // The parts were decided on the rows that were read before.
  expect(calls).toEqual([])
})

test('each share hears of its own rows, and the first one answers', async () => {
  const scope = await openScope()
  const [one, two] = [(await openNamed(scope, 'one')).row.id, (await openNamed(scope, 'two')).row.id]
  const heard: (string | undefined)[] = []
  const renaming = (id: SessionRow['id'], title: string) => part(decider, id, { verb: 'rename', id, title }, { session: id })
  const answer = await transact(scope, async () => [
    { committed: (rows) => `${rows.length} rows` },
    { parts: [renaming(one, 'first')], committed: (rows) => void heard.push(titleOf(rows)) },
    { guards: [] },
    { parts: [renaming(two, 'second')], committed: (rows) => void heard.push(titleOf(rows)) },
  ])
  expect(answer).toBe('0 rows')
  expect(heard).toEqual(['first', 'second'])
})

test('a name that the transaction looked up is looked up again, and another one is refused at once', async () => {
  const scope = await openScope()
  await openNamed(scope, 'taken')
  let rounds = 0
  const blind: Build<void> = async (scope) => {
    rounds++
    const id = scope.engine.newId<'session'>()
    return { parts: [part(decider, id, { verb: 'open', set: { key: 'taken' } }, { session: id })] }
  }
  const refusal = await transact(scope, blind).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(InkError)
  expect(refusal).toMatchObject({ code: 'CONFLICT', details: { table: 'names' } })
  expect(rounds).toBe(1)
  // Looked up by its key, it is found.
  expect((await openNamed(scope, 'taken')).created).toBe(false)
})

test('callers of one process that change the same row come one after the other', async () => {
  const scope = await openScope()
  const { row } = await openNamed(scope, 'k', { title: '' })
  let refused = 0
  const noted = scope.engine.lane.submit.bind(scope.engine.lane)
  scope.engine.lane.submit = async (commit, time) => {
    const outcome = await noted(commit, time)
    if (!outcome.ok) refused++
    return outcome
  }
  const add = (letter: string) =>
    transact(scope, async (scope) => {
      const seen = await readRow(scope, 'sessions', row.id)
      const command = { verb: 'rename', id: row.id, title: `${seen.body?.title}${letter}` } as const
      return { parts: [part(decider, row.id, command, { session: row.id, seen })] }
    })
  await Promise.all([...'abcdefghij'].map(add))
  const { body } = await readRow(scope, 'sessions', row.id)
  expect([...(body?.title ?? '')].sort().join('')).toBe('abcdefghij')
  expect(refused).toBe(0)
})

test('a share that begins another transaction once it is committed does not wait for its own rows', async () => {
  const scope = await openScope()
  const { row } = await openNamed(scope, 'k')
  const renaming = (title: string) => part(decider, row.id, { verb: 'rename', id: row.id, title }, { session: row.id })
  const committed = async () => (await plan(scope, [renaming('second')])).rows[0].body?.title
  expect(await transact(scope, async () => ({ parts: [renaming('first')], committed }))).toBe('second')
})

test('a transaction is not begun while another is built', async () => {
  const scope = await openScope()
  const { row } = await openNamed(scope, 'k')
  const nested: Build<void> = async (scope) => {
    await plan(scope, [part(decider, row.id, { verb: 'rename', id: row.id, title: 'x' }, { session: row.id })])
    return {}
  }
  await expect(transact(scope, nested)).rejects.toThrow('while another is built')
})
