// Deciders at work: decided again on conflict, several in one commit, fences granted and lost, refusals that still write.

import { describe, expect, test } from 'vitest'
import { codeOf, later, tempFile } from '../../../test/support/engines.ts'
import { memoryBackend } from '../../backends/memory/backend.ts'
import { sqliteBackend } from '../../backends/sqlite/backend.ts'
import { nodeEnvironment } from '../../environment.ts'
import { refuse } from '../../model/errors.ts'
import { MAIN, type SessionId } from '../../model/ids.ts'
import { createEngine } from '../engine.ts'
import { session } from '../features/sessions/session-decider.ts'
import { rebuild } from '../proof/rebuild.ts'
import { verify } from '../proof/verify.ts'
import type { Scope } from '../wiring/scope.ts'
import { type Command, decider, fact } from './decider.ts'
import { execute, plan } from './execute.ts'

interface Door {
  readonly owner: string
  readonly knocks: number
}
type DoorCommand = { verb: 'take'; by: string } | { verb: 'knock' } | { verb: 'late'; by: string } | { verb: 'drop' }

// A lease small enough to read at once: whoever takes it holds it, knocking is counted, dropping removes it.
const door = decider<Door, DoorCommand>({
  table: 'leases',
  grants: ['door.taken'],
  names: (row) => [['door', row.owner]],
  decide: {
    take: (row, { by }) => (row?.owner === by ? [] : [fact('door.taken', { by })]),
    knock: (row) => {
      if (!row) throw refuse('EVENT_UNKNOWN', { seq: 0, tenant: MAIN, head: 0 })
      return [fact('door.knocked', {}), fact('door.knocked', {})]
    },
    late: (_, { by }) => ({ facts: [fact('door.taken', { by })], refusal: refuse('SESSION_ARCHIVED', { session: by }) }),
    drop: (row) => (row ? [fact('door.dropped', {})] : []),
  },
  evolve: {
    'door.taken': (row, e) => ({ owner: e.data?.by as string, knocks: row?.knocks ?? 0 }),
    'door.knocked': (row) => row && { ...row, knocks: row.knocks + 1 },
    'door.dropped': () => undefined,
  },
})

const backends = {
  memory: async () => memoryBackend(nodeEnvironment),
  sqlite: () => sqliteBackend({ path: tempFile() }),
}

describe.each(['memory', 'sqlite'] as const)('on %s', (name) => {
  const open = async (): Promise<Scope> => {
    const backend = await backends[name]()
    later(() => backend.close())
    const closing = new AbortController()
    const engine = await createEngine(
      backend,
      nodeEnvironment,
      {},
      [{ name: 'doors', deciders: [session, door], onForked: 'not forked here', refs: 'no content' }],
      closing.signal,
      () => {},
    )
    return { engine, tenant: MAIN, actor: '' }
  }
  const rowOf = (scope: Scope, id: string) => scope.engine.backend.rows.get(MAIN, 'leases', id)
  const sound = async (scope: Scope) => {
    expect(await verify(scope)).toMatchObject({ intact: true })
    expect(await rebuild(scope, { check: true })).toMatchObject({ equal: true, differences: [] })
  }

  test('rows are stamped with the seqs of their first, last and granting events', async () => {
    const scope = await open()
    const id = scope.engine.newId()
    await execute(scope, door, id, { verb: 'take', by: 'ada' })
    await execute(scope, door, id, { verb: 'knock' })
    expect(await rowOf(scope, id)).toMatchObject({ born: 1, revision: 3, fence: 1, body: '{"knocks":2,"owner":"ada"}' })
    await execute(scope, door, id, { verb: 'take', by: 'bob' })
    expect(await rowOf(scope, id)).toMatchObject({ born: 1, revision: 4, fence: 4 })
    expect(await scope.engine.backend.rows.get(MAIN, 'names', 'door:ada')).toBeUndefined()
    expect((await scope.engine.backend.rows.get(MAIN, 'names', 'door:bob'))?.born).toBe(4)
    await sound(scope)
  })

  test('a hundred who change one row at once all succeed, one after the other', async () => {
    const scope = await open()
    const id = scope.engine.newId()
    await execute(scope, door, id, { verb: 'take', by: 'ada' })
    await Promise.all(Array.from({ length: 100 }, () => execute(scope, door, id, { verb: 'knock' })))
    expect((await rowOf(scope, id))?.body).toContain('"knocks":200')
    await sound(scope)
  })

  test('deciding nothing writes nothing, a refusal writes nothing, and a late answer writes and refuses', async () => {
    const scope = await open()
    const id = scope.engine.newId()
    expect(await codeOf(execute(scope, door, id, { verb: 'knock' }))).toBe('EVENT_UNKNOWN')
    expect(await execute(scope, door, id, { verb: 'drop' })).toEqual({ row: undefined, revision: 0, receipts: [], repeated: false })
    expect((await scope.engine.backend.journal.head(MAIN)).seq).toBe(0)
    expect(await codeOf(execute(scope, door, id, { verb: 'late', by: 'ada' }))).toBe('SESSION_ARCHIVED')
    expect((await rowOf(scope, id))?.body).toContain('ada')
    await execute(scope, door, id, { verb: 'drop' })
    expect(await rowOf(scope, id)).toBeUndefined()
    await sound(scope)
  })

  test('several deciders change together or not at all', async () => {
    const scope = await open()
    const [a, b] = [scope.engine.newId<'session'>(), scope.engine.newId()]
    const parts = (by: string) => [
      { decider: session, id: a, command: { verb: 'open', set: { title: by } }, session: a as SessionId },
      { decider: door, id: b, command: { verb: 'take', by } },
    ]
    const done = await plan(scope, parts('ada'))
    expect(done.receipts.map((r) => r.seq)).toEqual([1, 2])
    expect(done.rows).toMatchObject([
      { revision: 1, body: { title: 'ada' } },
      { revision: 2, body: { owner: 'ada' } },
    ])
    await expect(plan(scope, [parts('x')[1], parts('y')[1]] as never)).rejects.toThrow(/same row/)
    const c = scope.engine.newId<'session'>()
    const refused = plan(scope, [
      { decider: session, id: c, command: { verb: 'open', set: {} } as Command },
      { decider: door, id: scope.engine.newId(), command: { verb: 'knock' } },
    ])
    expect(await codeOf(refused)).toBe('EVENT_UNKNOWN')
    expect(await scope.engine.backend.rows.get(MAIN, 'sessions', c)).toBeUndefined()
    await sound(scope)
  })

  test('a retry under its key finds its receipt, even where deciding again would refuse or do nothing', async () => {
    const scope = await open()
    const id = scope.engine.newId()
    const options = { key: 'k', within: `door/${id}` }
    const first = await execute(scope, door, id, { verb: 'take', by: 'ada' }, options)
    expect(await execute(scope, door, id, { verb: 'take', by: 'ada' }, options)).toMatchObject({ repeated: true, receipts: first.receipts })
    await execute(scope, door, id, { verb: 'knock' }, { key: 'n', within: 'door' })
    await execute(scope, door, id, { verb: 'drop' })
    expect(await execute(scope, door, id, { verb: 'knock' }, { key: 'n', within: 'door' })).toMatchObject({ repeated: true })
    expect(await codeOf(execute(scope, door, id, { verb: 'take', by: 'bob' }, options))).toBe('KEY_REUSED')
    expect(await execute(scope, door, id, { verb: 'drop' }, { key: 'unused' })).toMatchObject({ repeated: false, receipts: [] })
    await sound(scope)
  })

  test('a writer that lost its fence writes nothing', async () => {
    const scope = await open()
    const [id, other] = [scope.engine.newId(), scope.engine.newId()]
    const { receipts } = await execute(scope, door, id, { verb: 'take', by: 'ada' })
    const fence = receipts[0]?.seq as number
    const guards = [{ kind: 'fence', table: 'leases', id, fence }] as const
    await execute(scope, door, other, { verb: 'take', by: 'x' }, { guards })
    await execute(scope, door, id, { verb: 'take', by: 'bob' })
    await expect(execute(scope, door, other, { verb: 'knock' }, { guards })).rejects.toMatchObject({
      code: 'FENCE_LOST',
      details: { fence, found: 3 },
    })
    await expect(
      execute(scope, door, other, { verb: 'knock' }, { guards: [{ kind: 'row', table: 'leases', id, revision: 1 }] }),
    ).rejects.toMatchObject({ code: 'CONFLICT' })
    expect((await rowOf(scope, other))?.body).toContain('"knocks":0')
    await sound(scope)
  })

  test('a name that is taken is told at once', async () => {
    const scope = await open()
    await execute(scope, door, scope.engine.newId(), { verb: 'take', by: 'ada' })
    await expect(execute(scope, door, scope.engine.newId(), { verb: 'take', by: 'ada' })).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { table: 'names', tries: 1 },
    })
  })

  test('rows that were changed by hand are found and put right', async () => {
    const scope = await open()
    const id = scope.engine.newId()
    await execute(scope, door, id, { verb: 'take', by: 'ada' })
    const stray = { kind: 'put', table: 'leases', id: 'stray', columns: ['x'], body: '{"owner":"x"}' } as const
    const wrong = { kind: 'put', table: 'leases', id, columns: ['eve'], body: '{"knocks":9,"owner":"eve"}' } as const
    await scope.engine.lane.submit({
      tenant: MAIN,
      guards: [],
      events: [],
      changes: [stray, wrong, { kind: 'remove', table: 'names', id: 'door:ada' }],
    })
    const found = await rebuild(scope, { check: true })
    expect(found.equal).toBe(false)
    expect(found.differences.map((d) => `${d.table} ${d.id}`).toSorted()).toEqual(
      [`leases ${id}`, 'leases stray', 'names door:ada'].toSorted(),
    )
    expect((await rowOf(scope, id))?.body).toContain('eve')
    expect(await rebuild(scope)).toMatchObject({ equal: false })
    expect(await rowOf(scope, id)).toMatchObject({ born: 1, revision: 1, fence: 1, body: '{"knocks":0,"owner":"ada"}' })
    await sound(scope)
  })

  test('a fence that was changed by hand is found', async () => {
    const scope = await open()
    const id = scope.engine.newId()
    await execute(scope, door, id, { verb: 'take', by: 'ada' })
    await execute(scope, door, id, { verb: 'knock' })
    const row = (await rowOf(scope, id)) as { body: string }
    const events = (await scope.engine.backend.journal.page(MAIN, { from: 0, limit: 10 })).events
    expect(events.length).toBe(3)
    const grab = { kind: 'put', table: 'leases', id, columns: ['ada'], body: row.body, event: 0, grants: true } as const
    const { draftEvent } = await import('./draft.ts')
    await scope.engine.lane.submit({ tenant: MAIN, guards: [], events: [draftEvent(scope, { type: 'x.y' }, '1')], changes: [grab] })
    expect((await rebuild(scope, { check: true })).differences[0]).toMatchObject({ stored: { fence: 4 }, folded: { fence: 1 } })
  })

  test('rows are put right while this very process writes without a pause', async () => {
    const scope = await open()
    const [id, other] = [scope.engine.newId(), scope.engine.newId()]
    await execute(scope, door, id, { verb: 'take', by: 'ada' })
    await execute(scope, door, other, { verb: 'take', by: 'bob' })
    const wrong = { kind: 'put', table: 'leases', id, columns: ['eve'], body: '{"knocks":9,"owner":"eve"}' } as const
    await scope.engine.lane.submit({ tenant: MAIN, guards: [], events: [], changes: [wrong] })
    let writing = true
    const writer = (async () => {
      while (writing) await execute(scope, door, other, { verb: 'knock' })
    })()
    await rebuild(scope)
    writing = false
    await writer
    expect((await rowOf(scope, id))?.body).toContain('ada')
    await sound(scope)
  })
})

test('a session that is deleted gives its key back at once, before its payloads are erased', () => {
  const row = { id: 'x' as SessionId, schema: 1, state: 'open', branch: 'root', key: 'k', openedAt: 1, changedAt: 1 } as const
  expect(session.names?.(row)).toEqual([['session', 'k']])
  expect(session.names?.({ ...row, state: 'deleted' })).toEqual([])
})
