// An item is remembered, changed, linked, forgotten, and purged. Remembering identical text again refreshes it.

import { refuse } from '../../../model/errors.ts'
import type { MemoryContent, MemoryId, MemoryLink, MemoryRow } from '../../../model/memory.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

/** Members of an item that its event carries; the fold counts the others. */
export type Remembered = Partial<MemoryContent> & Pick<MemoryRow, 'about' | 'ttl' | 'expires' | 'thread' | 'bytes' | 'textDigest'>
/** Members that are replaced; null takes one away. */
export type MemoryChange = { readonly [K in keyof Remembered]?: Remembered[K] | null | undefined }

export type MemoryCommand =
  | { readonly verb: 'remember'; readonly item: Remembered }
  | { readonly verb: 'update'; readonly change: MemoryChange }
  /** `from`: when the newer item became true. */
  | { readonly verb: 'supersede'; readonly by: MemoryId; readonly from: number }
  | { readonly verb: 'link'; readonly link: MemoryLink }
  | { readonly verb: 'unlink'; readonly to: MemoryId; readonly type?: string | undefined }
  | { readonly verb: 'forget'; readonly reason?: string | undefined }
  /** With `seen`, only if the item was not remembered or changed since. */
  | { readonly verb: 'purge'; readonly seen?: Pick<MemoryRow, 'refreshedAt' | 'times'> }
  | { readonly verb: 'remove' }

export const item = decider<MemoryRow, MemoryCommand>({
  table: 'memory',

  decide: {
    remember: (row, { item }) => {
      // Its name is free already, so the caller looks it up again and finds none.
      if (row?.state === 'purging') throw refuse('CONFLICT', { table: 'memory', id: row.id, tries: 1 })
      return [fact('memory.remembered', { ...item })]
    },
    update: (row, { change }) => when(row, fact('memory.updated', { ...change })),
    supersede: (row, { by, from }) => (row?.valid?.supersededBy === by ? [] : when(row, fact('memory.superseded', { by, from }))),
    link: (row, { link }) => when(row, fact('memory.linked', { ...link })),
    unlink: (row, { to, type }) =>
      row?.links?.some((link) => matches(link, to, type)) ? [fact('memory.unlinked', { to, ...(type !== undefined && { type }) })] : [],
    forget: (row, { reason }) => (row?.state === 'active' ? [fact('memory.forgotten', reason === undefined ? {} : { reason })] : []),
    purge: (row, { seen }) => (row && row.state !== 'purging' && isAsSeen(row, seen) ? [fact('memory.purging', {})] : []),
    remove: (row) => (row?.state === 'purging' ? [fact('memory.purged', {})] : []),
  },

  // Every payload may be erased: then an item has no text, and no search finds it.
  evolve: {
    'memory.remembered': (row, e: HappenedWith<Remembered>) =>
      withEnd<MemoryRow>({
        kind: 'note',
        about: '',
        bytes: 0,
        ...row,
        ...(e.data && (said(row, e.data) as Partial<MemoryRow>)),
        state: 'active',
        id: e.subject as MemoryId,
        at: row?.at ?? e.at,
        refreshedAt: e.at,
        times: (row?.times ?? 0) + 1,
      }),
    'memory.updated': (row, e: HappenedWith<MemoryChange>) =>
      row && withEnd({ ...row, ...(e.data as Partial<MemoryRow>), refreshedAt: e.at }),
    'memory.superseded': (row, e: HappenedWith<{ by: MemoryId; from: number }>) =>
      row && withEnd({ ...row, valid: { ...row.valid, ...(e.data && { supersededBy: e.data.by, supersededAt: e.data.from }) } }),
    'memory.linked': (row, e: HappenedWith<MemoryLink>) => {
      const link = e.data
      return row && link ? { ...row, links: [...(row.links ?? []).filter((old) => !matches(old, link.to, link.type)), link] } : row
    },
    'memory.unlinked': (row, e: HappenedWith<{ to: MemoryId; type?: string }>) =>
      row && { ...row, links: (row.links ?? []).filter((link) => !matches(link, e.data?.to, e.data?.type)) },
    'memory.forgotten': (row) => row && { ...row, state: 'forgotten' },
    // The text may be remembered again at once, as another item.
    'memory.purging': (row) => row && withoutDigest({ ...row, state: 'purging' }),
    'memory.purged': () => undefined,
  },

  names: ({ about, textDigest }) => (textDigest === undefined ? [] : [['memory', nameOf(about, textDigest)]]),
})

/** The name that identical text in one scope would take again. */
export const nameOf = (about: string, digest: string): string => `${about}/${digest}`

function when(row: MemoryRow | undefined, happens: ReturnType<typeof fact>): readonly ReturnType<typeof fact>[] {
  if (row?.state !== 'active') throw refuse('MEMORY_UNKNOWN', {})
  return [happens]
}

const matches = (link: MemoryLink, to: MemoryId | undefined, type: string | undefined): boolean =>
  link.to === to && (type === undefined || link.type === type)

/** Tags add up; whatever else is said anew replaces the old. An item that was superseded and is said again is true again. */
function said(row: MemoryRow | undefined, item: Remembered): MemoryChange {
  const tags = [...new Set([...(row?.tags ?? []), ...(item.tags ?? [])])]
  const { supersededBy: _, supersededAt: __, ...valid } = row?.valid ?? {}
  // Another source is another thread, or none.
  const thread = item.source && { thread: item.thread ?? null }
  return { ...item, ...thread, ...(tags.length > 0 && { tags }), ...(row?.valid && !item.valid && { valid }) }
}

const isAsSeen = (row: MemoryRow, seen: Pick<MemoryRow, 'refreshedAt' | 'times'> | undefined): boolean =>
  seen === undefined || (row.refreshedAt === seen.refreshedAt && row.times === seen.times)

const withoutDigest = ({ textDigest: _, ...row }: MemoryRow): MemoryRow => row

/** The time at which searches by time leave the item out. */
function withEnd<Row extends Partial<MemoryRow>>(row: Row): Row {
  const { ends: _, ...kept } = withoutNulls(row)
  const ends = Math.min(kept.valid?.until ?? Infinity, kept.valid?.supersededAt ?? Infinity)
  return { ...kept, ...(ends < Infinity && { ends }) } as Row
}

const withoutNulls = <Row extends object>(row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Row
