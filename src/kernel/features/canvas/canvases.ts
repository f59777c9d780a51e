// `store.canvases` and `session.canvases()`: the canvases of a tenant or of a session.

import type { CanvasRow } from '../../../model/canvas.ts'
import { InkError } from '../../../model/errors.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, filterOf, invalidOption, optionsOf } from '../../../model/options.ts'
import { abortable } from '../../reading/abortable.ts'
import { everyPage, everyRow } from '../../reading/every-row.ts'
import { listRows, type Page, type PageOptions } from '../../reading/list-rows.ts'
import { sessionToRead } from '../../session/session-named.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { part, plan } from '../../writing/execute.ts'
import { canvas } from './canvas-decider.ts'
import { type CompactReport, compactCanvas } from './compact.ts'
import { documentAt } from './documents.ts'
import { canvasIn } from './rows.ts'
import { canvasSnapshot } from './snapshot-decider.ts'

/** A canvas in a list, without its document. */
export type CanvasSummary = Pick<CanvasRow, 'session' | 'name' | 'version' | 'bytes' | 'state' | 'reason' | 'openedAt' | 'changedAt' | 'by'>

export interface ListCanvasesOptions extends PageOptions {
  /** Only canvases of the session with this key or id. */
  readonly session?: string
}

export interface RecoverOptions {
  /** Canvases that are loaded at most. The default and the limit are 10,000. */
  readonly most?: number
  readonly signal?: AbortSignal
}

export interface RecoverReport {
  /** Canvases whose document is there. */
  readonly loaded: number
  /** Canvases whose document cannot be read. The error names the version. */
  readonly damaged: readonly { readonly session: SessionId; readonly name: string; readonly version: number; readonly error: InkError }[]
  /** There are more canvases. They open when they are asked for. */
  readonly more: boolean
}

export interface StoreCanvases {
  /** Newest first. */
  list(options?: ListCanvasesOptions): Promise<Page<CanvasSummary>>
  /** Loads documents into memory after a restart, those that changed last first, and says which are damaged. */
  recover(options?: RecoverOptions): Promise<RecoverReport>
  /** Drops snapshots of all canvases that are not needed. `maintain` does the same. */
  compact(options?: { readonly signal?: AbortSignal }): Promise<CompactReport>
}

export const storeCanvases = (scope: Scope): StoreCanvases => ({
  list: async (options) => {
    const { session, ...page } = filterOf(options, 'canvases.list')
    if (session === undefined)
      return summaries(await listRows(scope, 'canvases', { index: 'byBorn', equals: [] }, page, (row) => canvasIn(scope, row)))
    return listOfSession(scope, await sessionToRead(scope, session), page)
  },
  recover: (options) => recover(scope, options),
  compact: async (options) => {
    const { signal, ...unknown } = optionsOf(options, 'canvases.compact')
    checkKnown(unknown, 'canvases.compact')
    return compactAll(scope, signal)
  },
})

/** In the order of their names. */
export const listOfSession = async (scope: Scope, session: SessionId, options: PageOptions = {}): Promise<Page<CanvasSummary>> =>
  summaries(
    await listRows(scope, 'canvases', { index: 'bySession', equals: [session], backwards: false }, optionsOf(options, 'canvases'), (row) =>
      canvasIn(scope, row),
    ),
  )

const summaries = (page: Page<CanvasRow>): Page<CanvasSummary> => ({ ...page, items: page.items.map(summary) })

const summary = ({ session, name, version, bytes, state, reason, openedAt, changedAt, by }: CanvasRow): CanvasSummary => ({
  session,
  name,
  version,
  bytes,
  state,
  ...(reason !== undefined && { reason }),
  openedAt,
  changedAt,
  ...(by !== undefined && { by }),
})

const PAGE = 100

async function recover(scope: Scope, options: RecoverOptions | undefined): Promise<RecoverReport> {
  checkOpen(scope.engine)
  const { most = limits.canvasRecovered, signal, ...unknown } = optionsOf(options, 'canvases.recover')
  checkKnown(unknown, 'canvases.recover')
  if (!Number.isInteger(most) || most < 1 || most > limits.canvasRecovered)
    throw invalidOption('most', `an integer from 1 to ${limits.canvasRecovered}`, most)
  let loaded = 0
  const damaged: RecoverReport['damaged'][number][] = []
  const rows = everyRow(scope, 'canvases', { index: 'byChange', equals: [], backwards: true, limit: PAGE })
  for await (const stored of abortable(scope, rows, signal)) {
    if (loaded + damaged.length === most) return { loaded, damaged, more: true }
    const row = await canvasIn(scope, stored)
    if (!row) continue
    try {
      await documentAt(scope, row, row.version)
      loaded++
    } catch (error) {
      if (!(error instanceof InkError && error.code === 'CANVAS_DAMAGED')) throw error
      damaged.push({ session: row.session, name: row.name, version: error.details.version as number, error })
    }
  }
  return { loaded, damaged, more: false }
}

export async function compactAll(scope: Scope, signal?: AbortSignal): Promise<CompactReport> {
  let [dropped, kept] = [0, 0]
  const rows = everyRow(scope, 'canvases', { index: 'byBorn', equals: [], limit: PAGE })
  for await (const { id } of abortable(scope, rows, signal)) {
    const report = await compactCanvas(scope, { id: id as Id<'canvas'> })
    dropped += report.dropped
    kept += report.kept
  }
  return { dropped, kept }
}

/** Removes the canvases of a session that is being deleted. */
export async function clearSession(scope: Scope, session: SessionId): Promise<void> {
  for await (const rows of everyPage(scope, 'canvas_snapshots', { index: 'bySession', equals: [session], limit: PAGE }))
    await removeRows(scope, rows, (id) => part(canvasSnapshot, id, { verb: 'drop' }))
  for await (const rows of everyPage(scope, 'canvases', { index: 'bySession', equals: [session], limit: PAGE }))
    await removeRows(scope, rows, (id) => part(canvas, id, { verb: 'delete' }))
}

async function removeRows(
  scope: Scope,
  rows: readonly { readonly id: string }[],
  removal: (id: Id) => ReturnType<typeof part>,
): Promise<void> {
  if (rows.length > 0)
    await plan(
      scope,
      rows.map(({ id }) => removal(id as Id)),
    )
}
