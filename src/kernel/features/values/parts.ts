// Parts of values on their way into a commit. A part that is stored is one ref. An append to it reads its open tail only.

import type { Json } from '../../../model/data.ts'
import type { ValueNode } from '../../../model/value.ts'
import { ValuePart } from '../../../model/value-part.ts'
import type { Scope } from '../../wiring/scope.ts'
import type { Encoder } from './encode.ts'
import { KIND, refKey, TAG } from './format.ts'
import { memoryOf } from './memory.ts'
import { ValueReader } from './read.ts'

/** Encodes the parts that stand in one value. Nothing is settled before its commit has succeeded. */
export class PartStage {
  readonly items = new Map<ValuePart, Uint8Array>()
  /** Stored parts. Nodes that were not encoded are below them. */
  readonly bases: Uint8Array[] = []
  readonly #scope: Scope

  constructor(scope: Scope) {
    this.#scope = scope
  }

  async encode(value: Json, encoder: Encoder): Promise<void> {
    for (const part of partsIn(value)) await this.#item(part, encoder)
  }

  async #item(part: ValuePart, encoder: Encoder): Promise<Uint8Array> {
    const done = this.items.get(part)
    if (done) return done
    const item = await this.#encoded(part, encoder)
    this.items.set(part, item)
    return item
  }

  async #encoded(part: ValuePart, encoder: Encoder): Promise<Uint8Array> {
    const state = ValuePart.stateOf(part)
    if ('item' in state) {
      if (isRef(state.item)) this.bases.push(state.item.subarray(1))
      return state.item
    }
    await this.encode(state.content, encoder)
    if (!state.after) return encoder.entry(state.content)
    const list = await this.#item(state.after, encoder)
    const isStored = 'item' in ValuePart.stateOf(state.after)
    return this.#append(list, state.content as readonly Json[], encoder, isStored ? [] : encoder.nodes)
  }

  /** The item of a list with more items behind it. `fresh` are nodes of the list that are not stored yet. */
  async #append(list: Uint8Array, more: readonly Json[], encoder: Encoder, fresh: readonly ValueNode[]): Promise<Uint8Array> {
    if (more.length === 0) return list
    const bodies = new Map(fresh.map(({ ref, body }) => [refKey(ref), body]))
    return ValueReader.ofItem(this.#scope, list, async (reader) => {
      const fetch = async (ref: Uint8Array): Promise<Uint8Array> =>
        bodies.get(refKey(ref)) ?? ((await reader.fetch([ref]))[0] as Uint8Array)
      const body = isRef(list) ? await fetch(list.subarray(1)) : undefined
      if (body?.[0] !== KIND.list) return encoder.entry([...(await reader.slice(0, Infinity)), ...more])
      const tree = encoder.list()
      tree.resume(body)
      for (const item of more) tree.add(encoder.entry(item))
      for (let spine = tree.wanted(); spine; spine = tree.wanted()) tree.grow(await fetch(spine))
      const root = tree.finish()
      return Uint8Array.of(TAG.ref, ...root)
    })
  }

  /** The commit has succeeded: the parts are stored. Their roots are kept in memory, because the next append begins there. */
  settle(encoder: Encoder): void {
    const { engine, tenant } = this.#scope
    for (const [part, item] of this.items) ValuePart.settle(part, item)
    for (const { ref, body } of encoder.nodes) if (ROOTS.has(body[0] as number)) memoryOf(engine).keep(tenant, ref, body)
  }
}

const ROOTS: ReadonlySet<number> = new Set([KIND.list, KIND.listSpine])

const isRef = (item: Uint8Array): boolean => item[0] === TAG.ref

/** The parts that stand in a value, without those inside them. */
export function partsIn(value: Json): readonly ValuePart[] {
  if (value === null || typeof value !== 'object') return []
  const found: ValuePart[] = []
  const look = (at: Json): void => {
    if (at === null || typeof at !== 'object') return
    if (at instanceof ValuePart) found.push(at)
    else if (Array.isArray(at)) for (const item of at) look(item as Json)
    else for (const key in at) look((at as { readonly [key: string]: Json })[key] as Json)
  }
  look(value)
  return found
}
