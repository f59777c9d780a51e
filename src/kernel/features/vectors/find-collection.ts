// Finds a collection by its name, creates it, and says what does not fit.

import { refuse } from '../../../model/errors.ts'
import type { Id } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkKey, checkKnown, invalidOption, listOf, optionsOf } from '../../../model/options.ts'
import { METRICS, type Metric, type VectorCollectionRow } from '../../../model/vector.ts'
import { nameHolder } from '../../naming/erased-names.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { execute, readRow } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { type CollectionSettings, collection } from './collection-decider.ts'

export interface CollectionOptions {
  /** Numbers in a vector; 1 to 4,096. Fixed when the collection is created. */
  readonly dimensions: number
  /** Cosine by default. Fixed when the collection is created. */
  readonly metric?: Metric
  /** The metadata fields that filters may name. By default filters may name any field. */
  readonly fields?: readonly string[]
}

/** Names of the store's own collections begin so. Callers cannot use them. */
export const OWN_PREFIX = 'inkfast/'

/** Checks the name of a collection that a caller may use. */
export function checkName(name: string): void {
  checkKey(name)
  if (name.startsWith(OWN_PREFIX)) throw invalidOption('name', `a name that does not begin with ${OWN_PREFIX}`, name)
}

/** A live collection and the revision that a guard needs. */
export interface FoundCollection extends CollectionSettings {
  readonly id: Id<'collection'>
  readonly revision: number
  readonly createdAt: number
}

export function takeSettings(name: string, options: CollectionOptions): CollectionSettings {
  const { dimensions, metric = 'cosine', fields, ...unknown } = optionsOf(options, 'vectors')
  checkKnown(unknown, 'vectors')
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > limits.vectorDimensions)
    throw invalidOption('dimensions', `an integer from 1 to ${limits.vectorDimensions}`, dimensions)
  if (!METRICS.includes(metric)) throw invalidOption('metric', METRICS.map((known) => `'${known}'`).join(', '), metric)
  const declared = listOf(fields, 'fields')
  for (const field of declared ?? []) checkKey(field)
  return { name, dimensions, metric, ...(declared && { fields: [...new Set(declared)].sort() }) }
}

export async function findCollection(scope: Scope, name: string): Promise<FoundCollection | undefined> {
  checkOpen(scope.engine)
  const id = await nameHolder<'collection'>(scope, 'collection', name, false)
  if (!id) return undefined
  const { body, revision } = await readRow(scope, 'vector_collections', id)
  // The name of an erased collection is found by its digest alone.
  return body && asFound({ ...body, name }, revision)
}

export function asFound(row: VectorCollectionRow, revision: number): FoundCollection | undefined {
  const { state, id, name, dimensions, metric, fields, createdAt } = row
  if (state !== 'live' || name === undefined || dimensions === undefined || metric === undefined) return undefined
  return { id, revision, name, dimensions, metric, createdAt, ...(fields && { fields }) }
}

/** Finds the collection and checks that it has these settings; with `create`, creates it if there is none. */
export async function collectionOf(
  scope: Scope,
  name: string,
  wanted: CollectionSettings | undefined,
  create: boolean,
): Promise<FoundCollection | undefined> {
  // Another writer may create it, or drop it, at the same time.
  return retryConflicts(scope, ['names'], async () => {
    const found = await findCollection(scope, name)
    if (found) return fitting(found, wanted)
    if (!wanted) throw refuse('COLLECTION_UNKNOWN', { name })
    if (!create) return undefined
    const { row, revision } = await execute(scope, collection, scope.engine.newId<'collection'>(), { verb: 'create', settings: wanted })
    return row && asFound({ ...row, name }, revision)
  })
}

function fitting(found: FoundCollection, wanted: CollectionSettings | undefined): FoundCollection {
  for (const setting of ['dimensions', 'metric'] as const) {
    if (wanted && wanted[setting] !== found[setting])
      throw refuse('COLLECTION_DIFFERS', { name: found.name, setting, expect: wanted[setting], found: found[setting] })
  }
  if (wanted?.fields && JSON.stringify(wanted.fields) !== JSON.stringify(found.fields))
    throw refuse('COLLECTION_DIFFERS', { name: found.name, setting: 'fields', expect: wanted.fields, found: found.fields ?? 'any' })
  return found
}
