// The message graph: nodes, branches, reads, hidden nodes and damage.

import { describe, expect, test } from 'vitest'
import type { NodeOptions, Session } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { shared } from '../runs/in-memory.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const chain = (from: number, to: number, under: string | null = from === 0 ? null : `n${from - 1}`): NodeOptions[] =>
  Array.from({ length: to - from }, (_, i) => ({
    id: `n${from + i}`,
    parent: i === 0 ? under : `n${from + i - 1}`,
    payload: { n: from + i },
  }))

const ids = (nodes: readonly { readonly id: string }[]) => nodes.map(({ id }) => id)

const add = (session: Session, turn: string, nodes: readonly NodeOptions[], leaf?: string) =>
  session.commitTurn({ turn, nodes, ...(leaf !== undefined && { leaf }) })

describe.each(engines)('the message graph on $name', ({ open }) => {
  test('a payload keeps the order of its keys', async () => {
    const store = await open()
    const session = await store.session('s')
    const payload = { role: 'user', content: [{ type: 'text', text: 'hi' }] }
    await add(session, '1', [{ id: 'a', parent: null, payload }])
    expect(JSON.stringify((await session.graph.node('a'))?.payload)).toBe(JSON.stringify(payload))
    await expectSound(store)
  })

  test('a graph is read whole, by path, by node, by window and by children, in pages', async () => {
    const store = await open()
    const session = await store.session('s')
    await add(session, '1', chain(0, 12))
    await add(
      session,
      '2',
      [
        { id: 'b1', parent: 'n3', payload: 'branch' },
        { id: 'b2', parent: 'b1', payload: 'x'.repeat(5000) },
      ],
      'n11',
    )
    expect(ids(await session.graph.path())).toEqual(ids(chain(0, 12)))
    expect(ids(await session.graph.path({ leaf: 'b2' }))).toEqual(['n0', 'n1', 'n2', 'n3', 'b1', 'b2'])
    const { at, ...node } = (await session.graph.node('b2')) ?? { at: 0 }
    expect(node).toEqual({ id: 'b2', parent: 'b1', payload: 'x'.repeat(5000), turn: '2' })
    expect(at).toBeGreaterThan(0)
    expect(await session.graph.node('b3')).toBeUndefined()
    expect(ids(await session.graph.children('n3'))).toEqual(['n4', 'b1'])
    expect(ids(await session.graph.children(null))).toEqual(['n0'])
    expect(ids(await session.graph.window('n4', { before: 2, after: 2 }))).toEqual(['n2', 'n3', 'n4', 'n5', 'n6'])
    expect(ids(await session.graph.window('b1', { before: 1, after: 5 }))).toEqual(['n3', 'b1', 'b2'])
    expect(ids(await session.graph.window('n11'))).toEqual(ids(chain(1, 12)))
    expect(await codeOf(session.graph.window('zzz'))).toBe('NODE_UNKNOWN')
    expect(await codeOf(session.graph.path({ leaf: 'zzz' }))).toBe('NODE_UNKNOWN')
    expect(await codeOf(session.graph.list({ first: 1, last: 1 }))).toBe('OPTION_INVALID')

    const seen: string[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await session.graph.list({ first: 5, ...(cursor !== undefined && { cursor }) })
      seen.push(...ids(page.items))
      if (page.cursor === undefined) break
      cursor = page.cursor
    }
    expect(seen).toEqual([...ids(chain(0, 12)), 'b1', 'b2'])
    expect(ids(await session.graph.list({ last: 2 }))).toEqual(['b2', 'b1'])
    const end = await session.graph.path({ last: 5 })
    expect(ids(end)).toEqual(ids(chain(7, 12)))
    expect(ids(await session.graph.path({ last: 50, cursor: end.cursor as string }))).toEqual(ids(chain(0, 7)))
    expect(ids(await (await store.session('empty')).graph.path())).toEqual([])
    await expectSound(store)
  })

  test('a long path is read in pages of nodes, also past a branch that was added later', async () => {
    const store = await open()
    const session = await store.session('s')
    await add(session, '1', chain(0, 300))
    await add(
      session,
      '2',
      chain(300, 310, 'n5').map((node) => ({ ...node, id: `b${node.id}`, parent: node.parent === 'n5' ? 'n5' : `b${node.parent}` })),
    )
    await add(session, '3', chain(300, 500, 'n299'))
    expect(ids(await session.graph.path())).toEqual(ids(chain(0, 500)))
    expect(await session.graph.path({ leaf: 'bn309' })).toHaveLength(16)
  })

  test('a graph refuses a circle, a missing parent, a duplicate and a leaf outside, names the offender, and writes nothing', async () => {
    const store = await open()
    const session = await store.session('s')
    await add(session, '1', chain(0, 3))
    const { seq } = await store.head()
    const node = (id: string, parent: string | null) => ({ id, parent, payload: 0 })
    const refused = async (nodes: readonly NodeOptions[], error: object, leaf?: string) =>
      expect(add(session, 'bad', nodes, leaf)).rejects.toMatchObject(error)
    await refused([node('a', 'b'), node('b', 'c'), node('c', 'a')], { code: 'NODE_CYCLE', details: { node: 'a' } })
    await refused([node('a', 'a')], { code: 'NODE_CYCLE', details: { node: 'a' } })
    await refused([node('a', 'zzz')], { code: 'NODE_PARENT_UNKNOWN', details: { node: 'a', parent: 'zzz' } })
    await refused([node('a', null), node('a', null)], { code: 'NODE_DUPLICATE', details: { node: 'a' } })
    await refused([node('n1', null)], { code: 'NODE_DUPLICATE', details: { node: 'n1' } })
    await refused([node('a', 'n2')], { code: 'LEAF_UNKNOWN', details: { leaf: 'zzz' } }, 'zzz')
    await refused([], { code: 'LEAF_UNKNOWN' }, 'zzz')
    await refused([{ id: 'a', parent: null } as never], { code: 'OPTION_INVALID' })
    await refused([{ ...node('a', null), prent: 1 } as never], { code: 'OPTION_INVALID' })
    await refused([{ ...node('a', null), cause: { kind: 'processEvent', id: 'p' } }], { code: 'OPTION_INVALID' })
    await refused([node('', null)], { code: 'KEY_INVALID' })
    await refused([{ ...node('a', null), payload: () => 1 }], { code: 'DATA_INVALID' })
    expect((await store.head()).seq).toBe(seq)
    // Children may stand before their parents.
    await add(session, '2', [node('c', 'b'), node('b', 'n2')], 'c')
    expect(ids(await session.graph.path())).toEqual(['n0', 'n1', 'n2', 'b', 'c'])
    await expectSound(store)
  })

  test('a node keeps its cause, its plugin type and its frame', async () => {
    const store = await open()
    const session = await store.session('s')
    const causes = [
      { kind: 'effect', id: 'key' },
      { kind: 'process', id: 'p' },
      { kind: 'processEvent', id: 'p', number: 3 },
      { kind: 'firing', id: 'f' },
      { kind: 'node', id: 'c0' },
    ] as const
    const nodes = causes.map((cause, i) => ({ id: `c${i}`, parent: i === 0 ? null : `c${i - 1}`, payload: { i }, cause, plugin: 'todo@1' }))
    await add(session, '1', nodes)
    expect((await session.graph.path()).map(({ cause }) => cause)).toEqual(causes)
    expect(await session.graph.node('c1')).toMatchObject({ plugin: 'todo@1' })
    await expectSound(store)
  })

  test('a replacement makes its nodes the whole graph, and an empty turn leaves the graph unchanged', async () => {
    const store = await open()
    const session = await store.session('s')
    await add(session, '1', chain(0, 5))
    const nodes = [
      { id: 'summary', parent: null, payload: 'short' },
      { id: 'n3', parent: 'summary', payload: { n: 3 } },
      { id: 'n4', parent: 'n3', payload: { n: 4 } },
    ]
    expect(await session.commitTurn({ turn: '2', expectedHead: 1, delta: 'replace', nodes })).toMatchObject({ revision: 2, leaf: 'n4' })
    expect(ids(await session.graph.path())).toEqual(['summary', 'n3', 'n4'])
    expect(await session.graph.node('n0')).toBeUndefined()
    expect(await session.head()).toMatchObject({ nodes: 3, leaf: 'n4' })
    // A hidden id stays taken until a vacuum.
    expect(await codeOf(add(session, '3', [{ id: 'n0', parent: 'n4', payload: 0 }]))).toBe('NODE_DUPLICATE')
    expect(await session.graph.vacuum()).toEqual({ removed: 3 })
    expect(await session.graph.vacuum()).toEqual({ removed: 0 })
    await add(session, '3', [{ id: 'n0', parent: 'n4', payload: 0 }])
    expect(await codeOf(session.commitTurn({ turn: '4', delta: 'replace', nodes: [{ id: 'x', parent: 'n0', payload: 0 }] }))).toBe(
      'NODE_PARENT_UNKNOWN',
    )
    expect(await session.commitTurn({ turn: '5', expectedHead: 3 })).toMatchObject({ revision: 4, leaf: 'n0', nodes: 0 })
    expect(ids(await session.graph.path())).toEqual(['summary', 'n3', 'n4', 'n0'])
    await expectSound(store)
  })

  test('a removed branch is hidden with everything below it until a vacuum removes it, and the active path cannot be removed', async () => {
    const store = await open()
    const session = await store.session('s')
    await add(session, '1', chain(0, 4))
    await add(
      session,
      '2',
      [
        { id: 'b1', parent: 'n1', payload: 'x'.repeat(3000) },
        { id: 'b2', parent: 'b1', payload: 1 },
      ],
      'n3',
    )
    await expect(session.graph.remove('n1')).rejects.toMatchObject({ code: 'NODE_IN_USE', details: { node: 'n1', leaf: 'n3' } })
    expect(await codeOf(session.graph.remove('b1', { expectedHead: 0 }))).toBe('TURN_HEAD_MOVED')
    expect(await session.graph.remove('b1', { expectedHead: 2 })).toEqual({ revision: 3, removed: ['b1', 'b2'] })
    expect(ids(await session.graph.children('n1'))).toEqual(['n2'])
    expect(await session.graph.node('b2')).toBeUndefined()
    expect(ids(await session.graph.list())).toEqual(ids(chain(0, 4)))
    expect(await codeOf(add(session, '3', [{ id: 'x', parent: 'b1', payload: 0 }]))).toBe('NODE_PARENT_UNKNOWN')
    expect(await codeOf(session.graph.moveTo('b1'))).toBe('LEAF_UNKNOWN')
    await session.graph.moveTo('n1')
    expect(ids(await session.graph.path())).toEqual(['n0', 'n1'])
    expect(await session.graph.remove('n2')).toMatchObject({ removed: ['n2', 'n3'] })
    expect(await session.head()).toMatchObject({ nodes: 2, revision: 5 })
    expect(await session.graph.vacuum()).toEqual({ removed: 4 })
    await expectSound(store)
  })

  test('a vacuum stops when its signal aborts, and the next one goes on', async () => {
    const store = await open()
    const session = await store.session('s')
    const { graph } = session
    await add(session, 't', chain(0, 2), 'n0')
    await graph.remove('n1')
    expect(await codeOf(graph.vacuum({ signal: AbortSignal.abort() }))).toBe('ABORTED')
    expect(await graph.vacuum({ signal: new AbortController().signal })).toEqual({ removed: 1 })
    await expectSound(store)
  })

  test('a node whose payload was erased stays in its place without content', async () => {
    const store = await open()
    const session = await store.session('s')
    await add(session, '1', chain(0, 3))
    for await (const event of store.events({ types: ['graph.added'] })) {
      if ((event.data as { node?: string }).node === 'n1') await store.erase({ seq: event.seq, reason: 'asked for' })
    }
    const path = await session.graph.path()
    expect(path.map(({ payload }) => payload)).toEqual([{ n: 0 }, undefined, { n: 2 }])
    expect(ids(path)).toEqual(['n0', 'n1', 'n2'])
    await expectSound(store)
  })
})

test('a path with a missing parent is reported as damage, by the read and by the check', async () => {
  let hidden = ''
  const another = shared()
  const isHidden = (table: string, body: string) => table === 'graph_nodes' && body.includes(`"node":"${hidden}"`)
  const around = (backend: Backend): Backend => ({
    ...backend,
    rows: {
      get: async (tenant, table, id) => {
        const row = await backend.rows.get(tenant, table, id)
        return row && isHidden(table, row.body) ? undefined : row
      },
      getMany: async (tenant, keys) => {
        const rows = await backend.rows.getMany(tenant, keys)
        return rows.map((row, i) => (row && isHidden(keys[i]?.table ?? '', row.body) ? undefined : row))
      },
      list: async (tenant, table, query) => {
        const page = await backend.rows.list(tenant, table, query)
        return table === 'graph_nodes' ? { ...page, rows: page.rows.filter(({ body }) => !body.includes(`"node":"${hidden}"`)) } : page
      },
    },
  })
  const store = await another({}, around)
  const session = await store.session('s')
  await add(session, '1', chain(0, 20))
  expect(ids(await session.graph.path())).toHaveLength(20)
  expect(await store.check()).toEqual([])
  hidden = 'n3'
  await expect(session.graph.path()).rejects.toMatchObject({ code: 'GRAPH_DAMAGED', details: { node: 'n4', missing: 'n3' } })
  expect(await store.check()).toEqual([expect.stringContaining('n3')])
  hidden = 'n19'
  expect(await codeOf(session.graph.path())).toBe('GRAPH_DAMAGED')
  expect(await store.check()).toEqual([expect.stringContaining('n19')])
})
