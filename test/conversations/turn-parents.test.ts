// Nodes of a turn without a parent: they follow the leaf, and a retry repeats the turn all the same.

import { describe, expect, test } from 'vitest'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const node = (id: string, parent: string | null, payload: unknown) => ({ id, parent, payload })

describe.each(engines)('a turn on $name', ({ open }) => {
  test('a node without a parent follows the leaf, and a retry after another turn finds its receipt', async () => {
    const store = await open()
    const session = await store.session('s')
    const first = {
      turn: '1',
      nodes: [
        { id: 'a', payload: 1 },
        { id: 'b', payload: 2 },
      ],
    }
    const second = {
      turn: '2',
      nodes: [
        { id: 'c', parent: undefined, payload: 3 },
        { id: 'd', parent: 'a', payload: 4 },
        { id: 'e', payload: 5 },
      ],
    }
    const receipt = await session.commitTurn(first)
    await session.commitTurn(second)
    const parents = async () => (await session.graph.list({ first: 50 })).map(({ id, parent }) => `${id} under ${parent}`)
    const written = ['a under null', 'b under a', 'c under b', 'd under a', 'e under d']
    expect(await parents()).toEqual(written)
    // The leaf has moved since, and that is not the content of the turn.
    expect(await session.commitTurn(first)).toEqual({ ...receipt, repeated: true })
    expect((await session.commitTurn(second)).repeated).toBe(true)
    expect(await parents()).toEqual(written)
    expect(await codeOf(session.commitTurn({ turn: '1', nodes: [node('a', null, 1), node('b', 'a', 2)] }))).toBe('TURN_REUSED')
    // Of two turns at once, the later one follows the other.
    await Promise.all(['x', 'y'].map((id) => session.commitTurn({ turn: id, nodes: [{ id, payload: id }] })))
    const path = (await session.graph.path()).map(({ id }) => id)
    expect([path.slice(0, 3), new Set(path.slice(3))]).toEqual([['a', 'd', 'e'], new Set(['x', 'y'])])
    await session.commitTurn({
      turn: 'anew',
      delta: 'replace',
      nodes: [
        { id: 'n', payload: 1 },
        { id: 'm', payload: 2 },
      ],
    })
    expect((await session.graph.path()).map(({ id }) => id)).toEqual(['n', 'm'])
    expect(await codeOf(session.commitTurn({ turn: 'odd', nodes: [{ id: 'o', parent: 5 as never, payload: 1 }] }))).toBe('OPTION_INVALID')
    await expectSound(store)
  })
})
