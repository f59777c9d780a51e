// A value on its way into a commit: the nodes that the store does not have yet, and guards on those that it should have.

import { isDigest } from '../../../model/blob.ts'
import { hex } from '../../../model/bytes.ts'
import type { Json } from '../../../model/data.ts'
import { limits } from '../../../model/limits.ts'
import type { ValueNode } from '../../../model/value.ts'
import type { Guard } from '../../../ports/commit.ts'
import { presentGuards, putBlob } from '../../content/blobs.ts'
import type { Scope } from '../../wiring/scope.ts'
import { Budget } from './budget.ts'
import { visitRefs } from './decode.ts'
import { Encoder } from './encode.ts'
import { refKey } from './format.ts'
import { memoryOf } from './memory.ts'
import { PartStage } from './parts.ts'

/** Long strings are text, mostly. */
const LONG_TEXT = { hints: ['compressible'] }

export interface StagedValue {
  readonly ref: Uint8Array
  /** Children before parents. */
  readonly nodes: readonly ValueNode[]
  readonly guards: readonly Guard[]
  /** To be called once the commit has succeeded. */
  readonly settle?: () => void
}

/** Encodes a value, and stores the long strings in it as blobs. `known` says that nodes this process knows need not be sent. */
export async function stage(scope: Scope, value: Json, known = true): Promise<StagedValue> {
  const parts = new PartStage(scope)
  const encoder = encoderOf(scope, parts)
  await parts.encode(value, encoder)
  const ref = encoder.root(value)
  await storeBlobs(scope, encoder)
  const { digests, guards, ...selected } = select(scope, ref, encoder.nodes, known, parts.bases)
  return { ...selected, guards: [...guards, ...(await presentGuards(scope, digests))], settle: () => parts.settle(encoder) }
}

const encoderOf = ({ engine }: Scope, parts: PartStage): Encoder =>
  new Encoder(engine.environment.digest.sha256, new Budget(limits.valueBytes), parts.items)

async function storeBlobs(scope: Scope, { blobs }: Encoder): Promise<void> {
  for (const { bytes } of blobs) await putBlob(scope, bytes, LONG_TEXT)
}

interface Selected extends StagedValue {
  /** Texts in the nodes that may name a blob, as the caller's data holds it. */
  readonly digests: readonly string[]
}

/**
 * Walks down from the root. A node that is known ends the walk: everything below it exists. `under` are older values: nodes that were not
 * encoded are below them, so guards on them cover the rest.
 */
function select(
  { engine, tenant }: Scope,
  root: Uint8Array,
  encoded: readonly ValueNode[],
  known: boolean,
  under: readonly Uint8Array[] = [],
): Selected {
  const memory = memoryOf(engine)
  const byKey = new Map(encoded.map((node) => [refKey(node.ref), node]))
  const carried = new Set<string>()
  const guards = new Map<string, Guard>()
  const open = [root]
  const visit = (ref: Uint8Array): void => void open.push(ref)
  const blob = (digest: Uint8Array): void => void guards.set(`blob ${hex(digest)}`, { kind: 'blob', digest: hex(digest) })
  const digests = new Set<string>()
  const digest = (text: Uint8Array): void => void digests.add(String.fromCharCode(...text))
  const visitor = { node: visit, leaf: visit, blob, digest }
  for (let ref = open.pop(); ref; ref = open.pop()) {
    const key = refKey(ref)
    if (carried.has(key) || guards.has(key)) continue
    const node = byKey.get(key)
    if (!node && under.length > 0) for (const old of under) guards.set(refKey(old), { kind: 'value', ref: old })
    else if (!node || (known && memory.isKnown(tenant, ref))) guards.set(key, { kind: 'value', ref })
    if (!node || guards.has(key)) continue
    carried.add(key)
    visitRefs(node.body, visitor)
  }
  const nodes: ValueNode[] = []
  for (const node of encoded) if (carried.delete(refKey(node.ref))) nodes.push(node)
  return { ref: root, nodes, guards: [...guards.values()], digests: [...digests].filter(isDigest) }
}

/** A large value is written in several commits, children first. Each guards the children that an earlier one wrote. */
export function split({ ref, nodes, guards }: StagedValue): readonly StagedValue[] {
  const lists: ValueNode[][] = [[]]
  let bytes = 0
  for (const node of nodes) {
    bytes += node.body.length
    if (bytes > limits.batchBytes) {
      lists.push([])
      bytes = node.body.length
    }
    lists.at(-1)?.push(node)
  }
  if (lists.length === 1) return [{ ref, nodes, guards }]
  const guarded = new Set(guards.map((guard) => (guard.kind === 'value' ? refKey(guard.ref) : '')))
  return lists.map((list) => {
    const own = new Set(list.map((node) => refKey(node.ref)))
    const more = new Map<string, Guard>()
    const visit = (child: Uint8Array): void => {
      const key = refKey(child)
      if (!own.has(key) && !guarded.has(key)) more.set(key, { kind: 'value', ref: child })
    }
    for (const node of list) visitRefs(node.body, { node: visit, leaf: visit, blob: () => {} })
    return { ref, nodes: list, guards: [...guards, ...more.values()] }
  })
}
