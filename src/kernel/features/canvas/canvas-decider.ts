// A canvas begins with its first update, grows by one version with each, and is closed at most once.

import { CANVAS_SCHEMA, type CanvasRow, type CanvasUpdate } from '../../../model/canvas.ts'
import { refuse } from '../../../model/errors.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { decider, fact, type Happened, type HappenedWith } from '../../writing/decider.ts'

export type CanvasCommand =
  | {
      readonly verb: 'update'
      readonly id: Id<'canvas'>
      readonly name: string
      /** The first patch was made for this version, and each other one for the version that the one before makes. */
      readonly base: number
      readonly updates: readonly Omit<CanvasUpdate, 'version' | 'minute'>[]
      /** Updates allowed in a minute. */
      readonly rate: number
    }
  | { readonly verb: 'close'; readonly name: string; readonly reason: string; readonly snapshot: boolean }
  | { readonly verb: 'fork'; readonly set: ForkedCanvas }
  | { readonly verb: 'delete' }

export type ForkedCanvas = Pick<CanvasRow, 'name' | 'version' | 'bytes' | 'state' | 'reason' | 'parent' | 'base'>

const MINUTE_MS = 60_000

export const canvas = decider<CanvasRow, CanvasCommand>({
  table: 'canvases',
  keeps: ({ version, bytes, state, parent, snapshot, base }) => ({ version, bytes, state, parent, snapshot, base }),

  decide: {
    update: (row, { id, name, base, updates, rate }, now) => {
      if (row?.state === 'closed') throw refuse('CANVAS_CLOSED', { canvas: name, reason: row.reason, version: row.version })
      if ((row?.version ?? 0) !== base) throw refuse('CONFLICT', { table: 'canvases', id, tries: 1 })
      const minute = row && now >= row.minute.from && now < row.minute.from + MINUTE_MS ? row.minute : undefined
      if ((minute?.count ?? 0) + updates.length > rate)
        throw refuse('RATE_LIMITED', { canvas: name, limit: rate, waitMs: (minute?.from ?? now) + MINUTE_MS - now })
      return updates.map((update, i) => {
        const first = i === 0 && { ...(!row?.name && { name }), ...(!minute && { minute: now }) }
        return fact('canvas.patched', { version: base + 1 + i, ...update, ...first })
      })
    },
    close: (row, { name, reason, snapshot }) => {
      if (!row) throw refuse('CANVAS_UNKNOWN', { canvas: name })
      return row.state === 'closed' ? [] : [fact('canvas.closed', { reason, ...(snapshot && { snapshot }) })]
    },
    fork: (row, { set }) => (row ? [] : [fact('canvas.forked', { ...set })]),
    delete: (row) => (row ? [fact('canvas.deleted', {})] : []),
  },

  // An erased update still counts as a version.
  evolve: {
    'canvas.patched': (before, e: HappenedWith<CanvasUpdate & { readonly name?: string }>) => {
      const { by: _, ...row } = before ?? begun(e)
      const version = row.version + 1
      const { data } = e
      return {
        ...row,
        name: data?.name ?? row.name,
        version,
        bytes: data?.bytes ?? row.bytes,
        changedAt: e.at,
        ...byOf(e),
        snapshot: data?.snapshot ? version : row.snapshot,
        parent: data?.parent ?? version - 1,
        minute: data?.minute === undefined ? { ...row.minute, count: row.minute.count + 1 } : { from: data.minute, count: 1 },
        ...(!data && { erased: (row.erased ?? 0) + 1 }),
      }
    },
    'canvas.closed': (row, e: HappenedWith<{ readonly reason: string; readonly snapshot?: true }>) =>
      row && {
        ...row,
        state: 'closed',
        reason: e.data?.reason ?? '',
        changedAt: e.at,
        snapshot: e.data?.snapshot ? row.version : row.snapshot,
      },
    'canvas.forked': (_, e: HappenedWith<ForkedCanvas>) => ({
      ...begun(e),
      ...e.data,
      snapshot: e.data?.version ?? 0,
      ...byOf(e),
    }),
    'canvas.deleted': () => undefined,
  },
})

const byOf = ({ actor }: Happened): Pick<CanvasRow, 'by'> => (actor === '' ? {} : { by: actor })

const begun = (e: Happened): CanvasRow => ({
  id: e.subject as Id<'canvas'>,
  schema: CANVAS_SCHEMA,
  session: e.session as SessionId,
  name: '',
  version: 0,
  bytes: 2,
  state: 'open',
  openedAt: e.at,
  changedAt: e.at,
  snapshot: 0,
  parent: -1,
  minute: { from: 0, count: 0 },
})
