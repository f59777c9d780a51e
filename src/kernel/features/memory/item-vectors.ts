// Embeddings of items: documents of a collection of the store's own, one for each model. A document names its item and the text it was made from.

import { encodeFloats } from '../../../model/float32.ts'
import type { Id } from '../../../model/ids.ts'
import type { MemoryId, MemoryRow } from '../../../model/memory.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { EmbedderMark } from '../../../model/vector.ts'
import type { Guard } from '../../../ports/commit.ts'
import { eraseSubject } from '../../proof/erase.ts'
import { everyRow } from '../../reading/every-row.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import type { Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { type Part, part, plan } from '../../writing/execute.ts'
import { vectorId } from '../vectors/documents.ts'
import type { Embedded } from '../vectors/embed.ts'
import { asFound, collectionOf, type FoundCollection, OWN_PREFIX } from '../vectors/find-collection.ts'
import { vector } from '../vectors/vector-decider.ts'

const PREFIX = `${OWN_PREFIX}memory/`

const nameOf = ({ id, dimensions, version }: EmbedderMark): string => `${PREFIX}${dimensions}/${version}/${id}`

/** The collection of a model; with `create`, it is created if there is none. */
export function itemCollection(scope: Scope, mark: EmbedderMark, create: boolean): Promise<FoundCollection | undefined> {
  const name = nameOf(mark)
  return collectionOf(scope, name, { name, dimensions: mark.dimensions, metric: 'cosine' }, create)
}

/** Collections that this store has filled. */
const filled = enginePart(() => new Set<string>())

/** The collection of a model, created if there is none. Undefined if another process has dropped it since, for a model of its own. */
export async function presentCollection(scope: Scope, mark: EmbedderMark): Promise<FoundCollection | undefined> {
  const key = `${scope.tenant}/${nameOf(mark)}`
  const mine = filled(scope.engine)
  const found = await itemCollection(scope, mark, false)
  if (!found && mine.has(key) && (await itemCollections(scope)).length > 0) return undefined
  mine.add(key)
  return found ?? itemCollection(scope, mark, true)
}

/** The collections of all models that this tenant has used and not dropped. */
export async function itemCollections(scope: Scope): Promise<readonly FoundCollection[]> {
  const found: FoundCollection[] = []
  const range = { index: 'byName', equals: ['live'], from: PREFIX, below: `${PREFIX}\u{10ffff}`, limit: 100 }
  for await (const row of everyRow(scope, 'vector_collections', range)) {
    const one = asFound(decodeBody(row.body, row), row.revision)
    if (one) found.push(one)
  }
  return found
}

/** An item as it was read, and the revision that it must still have when its vector is stored. */
export interface SeenItem {
  readonly row: MemoryRow
  readonly revision: number
}

export type Outcome = Embedded | { readonly failed: string }

/** Stores vectors, or why there are none. Returns how many; items that changed meanwhile are left for the next time. */
export async function storeOutcomes(
  scope: Scope,
  into: FoundCollection,
  items: readonly SeenItem[],
  outcomes: readonly Outcome[],
): Promise<number> {
  const guards: readonly Guard[] = [
    { kind: 'row', table: 'vector_collections', id: into.id, revision: into.revision },
    // A purge between reading the text and storing its vector must win.
    ...items.map(({ row, revision }): Guard => ({ kind: 'row', table: 'memory', id: row.id, revision })),
  ]
  try {
    await plan(
      scope,
      items.map(({ row }, i) => outcomePart(scope, into, row, outcomes[i] as Outcome)),
      { guards },
    )
    return items.length
  } catch (error) {
    if (!isConflict(error, 'memory')) throw error
    if (items.length === 1) return 0
  }
  let stored = 0
  for (const [i, one] of items.entries()) stored += await storeOutcomes(scope, into, [one], [outcomes[i] as Outcome])
  return stored
}

function outcomePart(scope: Scope, into: FoundCollection, row: MemoryRow, outcome: Outcome): Part {
  const about = { collection: into.id, key: row.id as string, metadata: { about: row.about, digest: row.textDigest ?? '' } }
  const id = vectorId(scope, into.id, row.id)
  if ('failed' in outcome) return part(vector, id, { verb: 'fail', document: { ...about, failed: { why: outcome.failed } } })
  const document = { ...about, vector: encodeFloats(outcome.vector), embedder: outcome.embedder }
  return part(vector, id, { verb: 'put', document }, { whole: true })
}

/** Erases and deletes the vectors of items that are purged: a vector tells much of its text. */
export async function purgeItemVectors(scope: Scope, ids: readonly MemoryId[], reason: string): Promise<void> {
  for (const { id: of } of await itemCollections(scope)) {
    for (const id of ids) {
      const found: Id<'vector'> = vectorId(scope, of, id)
      await eraseSubject(scope, found, reason)
      await plan(scope, [part(vector, found, { verb: 'remove' })])
    }
  }
}
