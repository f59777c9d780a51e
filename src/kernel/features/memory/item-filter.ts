// Filters on items. `list` and `forget` test rows with them; `recall` pushes them down into the search.

import { limits } from '../../../model/limits.ts'
import type { MemoryKind, MemoryRow, MemorySource } from '../../../model/memory.ts'
import { checkKnown, filterOf, invalidOption, optionsOf } from '../../../model/options.ts'
import { metadataMark } from '../../../model/text/marks.ts'
import { checkAbout, checkKind, type Time, takeSource, takeTags, takeTime } from './item-options.ts'

export type Scalar = string | number | boolean | null

export interface MemoryFilter {
  /** The scope, or several. */
  readonly about?: string | readonly string[]
  /** Items that have all of these tags. */
  readonly tags?: readonly string[]
  /** Items whose source has these members. */
  readonly source?: MemorySource
  readonly kind?: MemoryKind | readonly MemoryKind[]
  /** Items that were first remembered from this time on. */
  readonly since?: Time
  /** Items that were first remembered before this time. */
  readonly until?: Time
  /** Items whose metadata has these values. A list means one of them. */
  readonly metadata?: Readonly<Record<string, Scalar | readonly Scalar[]>>
}

/** A filter as it was checked. */
export interface TakenFilter {
  readonly about?: readonly string[]
  readonly tags?: readonly string[]
  readonly source?: MemorySource
  readonly kinds?: readonly MemoryKind[]
  readonly since?: number
  readonly until?: number
  readonly metadata?: readonly (readonly [key: string, values: readonly Scalar[]])[]
}

/** Takes the members of a filter out of options, and returns the other members. Those in `how` do not narrow the answer. */
export function takeFilter<T extends MemoryFilter>(
  given: T | undefined,
  of: string,
  how: readonly (keyof T & string)[] = [],
): readonly [TakenFilter, Omit<T, keyof MemoryFilter>] {
  const { about, tags, source, kind, since, until, metadata, ...rest } = filterOf(given as T, of, how)
  const scopes = about === undefined ? undefined : manyOf<string>(about)
  if (scopes?.length === 0) throw invalidOption('about', 'a scope, or several', about)
  for (const scope of scopes ?? []) checkAbout(scope)
  const kinds = kind === undefined ? undefined : manyOf<MemoryKind>(kind)
  const values = metadata === undefined ? undefined : takeMetadataFilter(metadata)
  const count = (values ?? []).reduce((sum, [, some]) => sum + some.length, (scopes?.length ?? 0) + (kinds?.length ?? 0))
  if (count > limits.memoryFilterValues) throw invalidOption(of, `a filter with at most ${limits.memoryFilterValues} values`, count)
  for (const one of kinds ?? []) checkKind(one)
  return [
    {
      ...(scopes && { about: scopes }),
      ...(tags !== undefined && { tags: takeTags(tags) }),
      ...(source !== undefined && { source: takeSource(filterOf(source, `the source of ${of}`)) }),
      ...(kinds && { kinds }),
      ...(since !== undefined && { since: takeTime('since', since) }),
      ...(until !== undefined && { until: takeTime('until', until) }),
      ...(values && { metadata: values }),
    },
    rest as unknown as Omit<T, keyof MemoryFilter>,
  ]
}

/** Takes a filter that stands alone. It must say something: an empty one would mean every item. */
export function takeWholeFilter(given: MemoryFilter, of: string): TakenFilter {
  const [filter, unknown] = takeFilter(given, of)
  checkKnown(unknown, of)
  if (Object.keys(filter).length === 0) throw invalidOption(of, 'an id, or a filter with at least one member', given)
  return filter
}

const manyOf = <T>(given: T | readonly T[]): readonly T[] => (Array.isArray(given) ? given : [given]) as readonly T[]

function takeMetadataFilter(given: NonNullable<MemoryFilter['metadata']>): NonNullable<TakenFilter['metadata']> {
  return Object.entries(optionsOf(given, 'metadata')).map(([key, value]) => {
    const values = manyOf(value as Scalar | readonly Scalar[])
    for (const one of values) {
      const known = one === null || ['string', 'boolean'].includes(typeof one) || Number.isFinite(one)
      if (!known || metadataMark(key, one) === undefined)
        throw invalidOption(`metadata.${key}`, `a scalar of at most ${limits.memoryMarkBytes} bytes, or several`, one)
    }
    return [key, values] as const
  })
}

/** Whether an item passes. Its scope and state are part of it; expiry and validity are not. */
export function passes(row: MemoryRow, filter: TakenFilter): boolean {
  const { about, tags, source, kinds, since, until, metadata } = filter
  if (about && !about.includes(row.about)) return false
  if (tags && !tags.every((tag) => row.tags?.includes(tag))) return false
  if (source && !Object.entries(source).every(([name, value]) => row.source?.[name as keyof MemorySource] === value)) return false
  if (kinds && !kinds.includes(row.kind)) return false
  if ((since !== undefined && row.at < since) || (until !== undefined && row.at >= until)) return false
  return (metadata ?? []).every(([key, values]) => {
    const value = row.metadata && Object.hasOwn(row.metadata, key) ? row.metadata[key] : undefined
    return value !== undefined && values.some((wanted) => wanted === value)
  })
}

export const isExpired = ({ expires }: Pick<MemoryRow, 'expires'>, now: number): boolean => expires !== undefined && expires <= now

export const isReplaced = ({ valid }: Pick<MemoryRow, 'valid'>): boolean => valid?.supersededBy !== undefined

/** Whether the item is true at this time. */
export const isTrue = ({ valid, ends }: Pick<MemoryRow, 'valid' | 'ends'>, now: number): boolean =>
  (valid?.from ?? 0) <= now && (ends ?? Infinity) > now
