// The graph against a plain-object model: whatever is added, refused, replaced, moved, removed, vacuumed and forked, reads agree with the model.

import { describe, expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import type { NodeOptions, Session } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'
import { rounds, seeds } from '../support/rounds.ts'

interface ModelNode {
  readonly parent: string | null
  readonly payload: unknown
}

/** The graph as plain objects. */
class Model {
  live = new Map<string, ModelNode>()
  hidden = new Set<string>()
  leaf: string | undefined
  revision = 0

  path(from = this.leaf): string[] {
    const path: string[] = []
    for (let at = from; at !== undefined; at = this.live.get(at)?.parent ?? undefined) path.unshift(at)
    return path
  }

  children(of: string | null): string[] {
    return [...this.live].filter(([, { parent }]) => parent === of).map(([id]) => id)
  }

  below(top: string): string[] {
    return [top, ...this.children(top).flatMap((child) => this.below(child))]
  }

  /** The code of the refusal, or undefined once the change is made. */
  commit(given: readonly NodeOptions[], replace: boolean, leaf: string | undefined): string | undefined {
    // Without a parent, a node follows the one before it, and the first one follows the leaf.
    const nodes = given.map(({ id, parent, payload }, i) => {
      const before = i === 0 ? (replace ? undefined : this.leaf) : given[i - 1]?.id
      return { id, parent: parent === undefined ? (before ?? null) : parent, payload }
    })
    const known = replace ? new Map<string, ModelNode>() : this.live
    const taken = (id: string) => !replace && (this.live.has(id) || this.hidden.has(id))
    const ids = nodes.map(({ id }) => id)
    if (ids.some((id, i) => ids.indexOf(id) !== i || taken(id))) return 'NODE_DUPLICATE'
    if (nodes.some(({ parent }) => parent !== null && !ids.includes(parent) && !known.has(parent))) return 'NODE_PARENT_UNKNOWN'
    const parents = new Map(nodes.map(({ id, parent }) => [id, parent]))
    for (const id of ids) {
      let steps = 0
      for (let at: string | null = id; at !== null && parents.has(at); at = parents.get(at) ?? null)
        if (++steps > ids.length) return 'NODE_CYCLE'
    }
    if (leaf !== undefined && !known.has(leaf) && !ids.includes(leaf)) return 'LEAF_UNKNOWN'
    if (replace) for (const id of this.live.keys()) if (!ids.includes(id)) this.hidden.add(id)
    const next = new Map(known)
    for (const { id, parent, payload } of nodes) {
      next.set(id, { parent, payload })
      this.hidden.delete(id)
    }
    this.live = next
    this.leaf = leaf ?? ids.at(-1) ?? (replace ? undefined : this.leaf)
    this.revision++
    return undefined
  }

  remove(id: string): string | undefined {
    if (!this.live.has(id)) return 'NODE_UNKNOWN'
    if (this.path().includes(id)) return 'NODE_IN_USE'
    for (const one of this.below(id)) {
      this.live.delete(one)
      this.hidden.add(one)
    }
    this.revision++
    return undefined
  }
}

const codeOf = (promise: Promise<unknown>): Promise<string | undefined> =>
  promise.then(
    () => undefined,
    (error) => error.code ?? String(error),
  )

async function agree(session: Session, model: Model): Promise<void> {
  const all = await session.graph.list({ first: 1000 })
  expect(Object.fromEntries(all.items.map(({ id, parent, payload }) => [id, { parent, payload }]))).toEqual(Object.fromEntries(model.live))
  expect((await session.graph.path()).map(({ id }) => id)).toEqual(model.path())
  expect(await session.head()).toMatchObject({ revision: model.revision, nodes: model.live.size })
  expect((await session.head()).leaf).toBe(model.leaf)
}

/** How a broken model, which ignores hidden nodes, is told from the graph. */
const forgetful = (model: Model): Model =>
  Object.assign(model, {
    hidden: new (class extends Set<string> {
      override has(): boolean {
        return false
      }
    })(),
  })

async function play(session: Session, model: Model, seed: number, steps: number): Promise<void> {
  const { int: below, pick } = chance(seed)
  const name = () => `n${below(24)}`
  const anyLive = () => (model.live.size === 0 || below(8) === 0 ? name() : pick([...model.live.keys()]))
  for (let step = 0; step < steps; step++) {
    const kind = below(10)
    if (kind < 6) {
      const nodes: NodeOptions[] = []
      for (let i = below(4); i > 0; i--)
        nodes.push({
          id: below(6) === 0 ? anyLive() : `n${below(60)}`,
          ...(below(5) > 0 && {
            parent: below(6) === 0 ? null : nodes.length > 0 && below(2) === 0 ? (nodes.at(-1) as NodeOptions).id : anyLive(),
          }),
          payload: below(4) === 0 ? Array.from({ length: 300 }, () => seed * 100 + step) : { step, i },
        })
      const replace = below(8) === 0
      const leaf = below(3) === 0 ? anyLive() : undefined
      const options = { turn: `${seed}-${step}`, expectedHead: model.revision, nodes, ...(leaf !== undefined && { leaf }) }
      const done = codeOf(session.commitTurn({ ...options, ...(replace && { delta: 'replace' as const }) }))
      expect(await done).toBe(model.commit(nodes, replace, leaf))
    } else if (kind < 8) {
      const id = anyLive()
      expect(await codeOf(session.graph.remove(id))).toBe(model.remove(id))
    } else if (kind === 8) {
      const { removed } = await session.graph.vacuum()
      expect(removed).toBe(model.hidden.size)
      model.hidden.clear()
    } else {
      const id = anyLive()
      const known = model.live.has(id)
      expect(await codeOf(session.graph.moveTo(id))).toBe(known ? undefined : 'LEAF_UNKNOWN')
      if (known && model.leaf !== id) {
        model.leaf = id
        model.revision++
      }
    }
    if (model.live.size > 0) {
      const id = pick([...model.live.keys()])
      expect((await session.graph.path({ leaf: id })).map((one) => one.id)).toEqual(model.path(id))
      expect((await session.graph.children(id)).map((one) => one.id).sort()).toEqual(model.children(id).sort())
      expect((await session.graph.node(id))?.payload).toEqual(model.live.get(id)?.payload)
    }
  }
  await agree(session, model)
}

describe.each(engines)('a graph and its model on $name', ({ open }) => {
  test('a graph equals a plain object after any commands, and so does a fork of it', async () => {
    const store = await open()
    for (const seed of seeds(1, 60)) {
      const session = await store.session(`s${seed}`)
      const model = new Model()
      await play(session, model, seed, rounds(25, 120))
      const fork = await session.fork({ at: (await store.head()).seq })
      // Hidden nodes stay with the source.
      const copy = Object.assign(new Model(), { live: new Map(model.live), leaf: model.leaf, revision: model.revision })
      await agree(fork, copy)
      await play(fork, copy, seed + 1000, 10)
      await agree(session, model)
    }
    await expectSound(store)
  })
})

test('the model finds out a graph whose hidden ids are free', async () => {
  const engine = engines[0]
  if (!engine) throw new Error('no engine')
  const store = await engine.open()
  const outcomes = await Promise.all(
    seeds(4, 8).map(async (seed) =>
      play(await store.session(`c${seed}`), forgetful(new Model()), seed, 60).then(
        () => 'agrees',
        () => 'differs',
      ),
    ),
  )
  expect(outcomes).toContain('differs')
})
