// `store.collections`: lists and drops collections of vectors.

import type { Id } from '../../../model/ids.ts'
import { optionsOf } from '../../../model/options.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { Metric } from '../../../model/vector.ts'
import { everyRow } from '../../reading/every-row.ts'
import { listRows, type Page, type PageOptions } from '../../reading/list-rows.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { execute } from '../../writing/execute.ts'
import { collection } from './collection-decider.ts'
import { clearCollection } from './documents.ts'
import { asFound, checkName, findCollection, OWN_PREFIX } from './find-collection.ts'
import { indexCache } from './index-cache.ts'

export interface CollectionSummary {
  readonly name: string
  readonly dimensions: number
  readonly metric: Metric
  readonly fields?: readonly string[]
  readonly createdAt: number
}

export interface VectorCollections {
  /** Lists the collections of the tenant by name. A page may have fewer than asked for and still have a cursor. */
  list(options?: PageOptions): Promise<Page<CollectionSummary>>
  /** Deletes a collection and its documents. Says whether there was one. Its name is free at once. */
  drop(name: string): Promise<boolean>
}

export const vectorCollections = (scope: Scope): VectorCollections => ({
  list: async (options) => {
    const live = { index: 'byName', equals: ['live'], backwards: false }
    const { items, ...rest } = await listRows(scope, 'vector_collections', live, optionsOf(options, 'collections.list'))
    return {
      items: items
        .flatMap((row) => asFound(row, 0) ?? [])
        .filter(({ name }) => !name.startsWith(OWN_PREFIX))
        .map(({ id: _, revision: _r, ...summary }) => summary),
      ...rest,
    }
  },
  drop: async (name) => {
    checkOpen(scope.engine)
    checkName(name)
    const found = await findCollection(scope, name)
    if (!found) return false
    await execute(scope, collection, found.id, { verb: 'drop' })
    await clearCollection(scope, found.id)
    indexCache(scope.engine).forget(scope, found.id)
    return true
  },
})

/** Finishes drops that a crash interrupted. Returns their number. */
export async function finishDrops(scope: Scope): Promise<number> {
  const left: Id<'collection'>[] = []
  for await (const row of everyRow(scope, 'vector_collections', { index: 'byName', equals: ['dropped'], limit: 100 }))
    left.push(decodeBody(row.body, row).id)
  for (const id of left) await clearCollection(scope, id)
  return left.length
}
