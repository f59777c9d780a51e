// Components of a checkpoint, in memory: what is stored, what is kept, and what is refused.

import { expect, test } from 'vitest'
import { codeOf } from '../../../../test/support/engines.ts'
import { memoryBackend } from '../../../backends/memory/backend.ts'
import { nodeEnvironment } from '../../../environment.ts'
import type { CheckpointManifest, TurnState } from '../../../model/checkpoint.ts'
import { MAIN } from '../../../model/ids.ts'
import { createEngine } from '../../engine.ts'
import { features } from '../../features.ts'
import type { Scope } from '../../wiring/scope.ts'
import { refusalOf } from '../../writing/commit-outcome.ts'
import { collect } from '../values/collect.ts'
import { type Components, manifestRefs, readComponents, readTurnState, withComponents } from './components.ts'

const engine = await createEngine(memoryBackend(nodeEnvironment), nodeEnvironment, {}, features, new AbortController().signal, () => {})
const scope: Scope = { engine, tenant: MAIN, actor: '' }

interface Saved {
  readonly manifest: CheckpointManifest
  readonly sent: number
}

/** Commits the components and nothing else. No row keeps them, so a collection takes them. */
const save = (components: Components, previous?: CheckpointManifest, turn?: TurnState): Promise<Saved> =>
  withComponents(
    scope,
    components,
    previous,
    async ({ manifest, nodes, guards }) => {
      const outcome = await engine.lane.submit({ tenant: MAIN, guards, nodes, events: [], changes: [] })
      if (!outcome.ok) throw refusalOf(scope, outcome)
      return { manifest, sent: nodes.length }
    },
    turn,
  )

const list = Array.from({ length: 500 }, (_, i) => ({ n: i, text: `item ${i} of a list` }))

test('components come back exactly, JSON as JSON and bytes as bytes of their kind', async () => {
  const components = { toolState: { list, odd: ['\ud800', -0] }, plugin: new Uint8Array([1, 2, 3]), execution: null, 'my part': 'x' }
  const turn = { turn: 4, usage: { input: 5 }, lastPromptUsage: { input: 1 }, options: { model: 'm' } }
  const { manifest } = await save({ ...components, gone: undefined }, undefined, turn)
  expect(await readComponents(scope, manifest)).toEqual(components)
  expect(await readTurnState(scope, manifest)).toEqual(turn)
  expect(manifest.components.plugin).toMatchObject({ kind: 'plugin-snapshot', bytes: 3, revision: 1 })
  expect(manifestRefs(manifest)).toHaveLength(5)
  expect(await readTurnState(scope, (await save({})).manifest)).toEqual({})
})

test('an unchanged component sends no node and keeps its revision, and an absent one is dropped', async () => {
  const bytes = new Uint8Array([9, 9])
  const first = await save({ a: list, b: { n: 1 }, c: bytes })
  const second = await save({ a: list, b: { n: 2 }, c: bytes }, first.manifest)
  const revisions = Object.fromEntries(Object.entries(second.manifest.components).map(([name, { revision }]) => [name, revision]))
  expect(revisions).toEqual({ a: 1, b: 2, c: 1 })
  expect(second.sent).toBe(1)
  const third = await save({ b: { n: 2 } }, second.manifest)
  expect(Object.keys(third.manifest.components)).toEqual(['b'])
  expect([third.manifest.components.b?.revision, third.sent]).toEqual([2, 0])
})

test('a component may have the name of a member that every object inherits', async () => {
  const components = { constructor: 1, toString: 2, hasOwnProperty: new Uint8Array([3]) }
  const first = await save({ other: 1 })
  const second = await save(components as never, first.manifest)
  const third = await save({ ...components, toString: 4 } as never, second.manifest)
  expect(Object.values(second.manifest.components).map(({ revision }) => revision)).toEqual([1, 1, 1])
  expect(third.manifest.components.toString).toMatchObject({ revision: 2 })
  expect(await readComponents(scope, third.manifest)).toEqual({ ...components, toString: 4 })
})

test('components that are no plain object are refused, because their content is not in their members', async () => {
  const { seq } = await engine.backend.journal.head(MAIN)
  for (const given of [new Map([['a', 1]]), new Date(0), new Uint8Array([1, 2]), new (class Held {})()])
    expect(await codeOf(save(given as never))).toBe('OPTION_INVALID')
  expect((await engine.backend.journal.head(MAIN)).seq).toBe(seq)
  expect((await save(Object.create(null))).manifest.components).toEqual({})
})

test('a component that was collected is stored again by the next checkpoint, and is COMPONENT_LOST until then', async () => {
  const components = { a: { n: 'collected' }, b: new TextEncoder().encode('collected too') }
  const { manifest } = await save(components)
  await collect(scope, { grace: 0 })
  expect(await codeOf(readComponents(scope, manifest))).toBe('COMPONENT_LOST')
  expect(await codeOf(readComponents(scope, { ...manifest, components: { b: manifest.components.b } } as never))).toBe('COMPONENT_LOST')
  const again = await save(components, manifest)
  expect(again.manifest).toEqual(manifest)
  expect(await readComponents(scope, manifest)).toEqual(components)
})

test('a name that is no name, content that is no JSON, and a wrong turn are refused before anything is stored', async () => {
  const { seq } = await engine.backend.journal.head(MAIN)
  for (const name of ['', 'a\nb', '\ud800', 'x'.repeat(201), JSON.parse('"__proto__"')])
    expect(await codeOf(save(Object.fromEntries([[name, 1]])))).toBe('RUN_NAME_INVALID')
  expect(await codeOf(save({ a: () => 1 }))).toBe('DATA_INVALID')
  expect(await codeOf(save([] as never))).toBe('OPTION_INVALID')
  expect(await codeOf(save(Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`c${i}`, i]))))).toBe('OPTION_INVALID')
  expect(await codeOf(save({}, undefined, { turn: -1 }))).toBe('OPTION_INVALID')
  expect(await codeOf(save({}, undefined, { turns: 1 } as never))).toBe('OPTION_INVALID')
  expect((await engine.backend.journal.head(MAIN)).seq).toBe(seq)
})

test('a manifest without a schema version, with one that is no number, or with another version is CHECKPOINT_UNREADABLE', async () => {
  for (const schema of [undefined, '1', 2]) {
    const manifest = { schema, components: {} } as never
    expect(await codeOf(readComponents(scope, manifest))).toBe('CHECKPOINT_UNREADABLE')
    expect(await codeOf(readTurnState(scope, manifest))).toBe('CHECKPOINT_UNREADABLE')
  }
})
