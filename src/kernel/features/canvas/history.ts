// The history of a canvas, read from its events: who made which version, when, by which patch, and how to take it back.

import type { CanvasRow, CanvasUpdate, CanvasUpdateKind } from '../../../model/canvas.ts'
import type { EventRecord } from '../../../model/event.ts'
import type { RunId } from '../../../model/ids.ts'
import { copyJson } from '../../../model/json-copy.ts'
import { invert } from '../../../model/json-invert.ts'
import type { PatchOperation } from '../../../model/json-patch.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import type { PageQuery } from '../../../ports/journal.ts'
import { abortable, stopIfAsked } from '../../reading/abortable.ts'
import type { Scope } from '../../wiring/scope.ts'
import { documentAt, PATCHED, updateIn } from './documents.ts'
import { readCanvas } from './rows.ts'

/** One version of a canvas. */
export interface CanvasChange {
  readonly version: number
  /** The event that made it. */
  readonly seq: number
  /** By the clock of the node that wrote it. */
  readonly time: number
  readonly actor?: string
  readonly run?: RunId
  readonly kind: 'patch' | CanvasUpdateKind
  /** Present for an undo or a restore: the version whose document came back. */
  readonly to?: number
  readonly patch: readonly PatchOperation[]
  /** Leads from this version back to the one before. Absent where the document before it is damaged. */
  readonly inverse?: readonly PatchOperation[]
  /** Bytes of the patch, as JSON. */
  readonly size: number
  /** Bytes of the document after it. */
  readonly documentSize: number
  /** A snapshot was taken of this version. */
  readonly snapshot: boolean
  /** The payload was erased: nothing else is known. */
  readonly erased?: true
  /** The payload is not what was written: nothing else is known. */
  readonly damaged?: true
}

export interface CanvasHistoryOptions {
  /** Only versions after this one. */
  readonly after?: number
  /** Only versions before this one. */
  readonly before?: number
  /** Newest first. */
  readonly backwards?: boolean
  /** The largest number of versions. */
  readonly limit?: number
  readonly signal?: AbortSignal
}

export async function* changesOf(
  scope: Scope,
  find: () => Promise<CanvasRow | undefined>,
  options: CanvasHistoryOptions | undefined,
): AsyncGenerator<CanvasChange, void, undefined> {
  const {
    after = 0,
    before = Number.MAX_SAFE_INTEGER,
    backwards = false,
    limit = Infinity,
    signal,
    ...unknown
  } = optionsOf(options, 'canvas.history')
  checkKnown(unknown, 'canvas.history')
  for (const [name, given] of Object.entries({ after, before }))
    if (!Number.isSafeInteger(given) || given < 0) throw invalidOption(name, 'a version', given)
  if (limit !== Infinity && (!Number.isSafeInteger(limit) || limit < 0)) throw invalidOption('limit', 'an integer ≥ 0', limit)
  if (typeof backwards !== 'boolean') throw invalidOption('backwards', 'true or false', backwards)
  stopIfAsked(scope, signal)
  const row = await find()
  if (!row) return
  let left = limit
  for await (const { version, event, update } of abortable(scope, versions(scope, row, backwards), signal)) {
    if (backwards ? version >= before : version <= after) continue
    if (left <= 0 || (backwards ? version <= after : version >= before)) return
    left--
    yield await changeOf(scope, row, version, event, update)
  }
}

interface Made {
  readonly version: number
  readonly event: EventRecord
  /** Absent if its payload was erased or is damaged. */
  readonly update: CanvasUpdate | undefined
}

/** The events of a canvas with the versions they made. A version is counted where its event does not name it. */
async function* versions(scope: Scope, row: CanvasRow, backwards: boolean): AsyncGenerator<Made, void, undefined> {
  let version = backwards ? row.version : (row.base?.version ?? 0) + 1
  for (let from = backwards ? Number.MAX_SAFE_INTEGER : 0, more = true; more; ) {
    const page = await pageOf(scope, row, { from, backwards, limit: limits.canvasPage })
    for (const event of page.events) {
      const update = updateIn(scope, event)
      // An update that was written since the row was read counts too.
      version = update?.version ?? version
      yield { version, event, update }
      version += backwards ? -1 : 1
    }
    from = page.through
    more = page.more
  }
}

const pageOf = (scope: Scope, row: CanvasRow, query: Pick<PageQuery, 'from' | 'backwards' | 'limit' | 'until'>) =>
  scope.engine.backend.journal.page(scope.tenant, { ...query, subject: row.id, types: PATCHED, bytes: limits.pageBytes })

async function changeOf(
  scope: Scope,
  row: CanvasRow,
  version: number,
  event: EventRecord,
  update: CanvasUpdate | undefined,
): Promise<CanvasChange> {
  const about = {
    version,
    seq: event.seq,
    time: event.at,
    ...(event.actor !== '' && { actor: event.actor }),
    ...(event.run && { run: event.run }),
  }
  if (!update) {
    const why = event.payload === undefined ? { erased: true as const } : { damaged: true as const }
    return { ...about, kind: 'patch', patch: [], size: 0, documentSize: 0, snapshot: false, ...why }
  }
  const { ops, bytes, kind = 'patch', to, snapshot = false } = update
  const inverse = await documentAt(scope, { ...row, version: Math.max(row.version, version) }, version - 1).then(
    (document) => copyJson(invert(document, ops)),
    () => undefined,
  )
  return {
    ...about,
    kind,
    ...(to !== undefined && { to }),
    patch: copyJson(ops),
    ...(inverse && { inverse }),
    size: new TextEncoder().encode(JSON.stringify(ops)).length,
    documentSize: bytes,
    snapshot,
  }
}

/** The version of a canvas after an event, or at a time. Undefined if it did not exist then. */
export async function versionAtEvent(
  scope: Scope,
  row: CanvasRow,
  moment: { readonly seq: number } | { readonly time: number },
): Promise<number | undefined> {
  const range = 'seq' in moment ? { from: moment.seq + 1 } : { from: Number.MAX_SAFE_INTEGER, until: moment.time + 1 }
  let skipped = 0
  for (let { from } = range, more = true; more; ) {
    const page = await pageOf(scope, row, { ...range, from, backwards: true, limit: skipped + 1 })
    for (const event of page.events) {
      const update = updateIn(scope, event)
      if (update) return update.version + skipped
      skipped++
    }
    from = page.through
    more = page.more
  }
  // Only erased or damaged updates of this canvas lie before, or none: a fork goes back to the canvas it came from.
  if (skipped > 0) return (row.base?.version ?? 0) + skipped
  const source = row.base && (await readCanvas(scope, row.base.canvas)).body
  if (!row.base || !source) return undefined
  const before = await versionAtEvent(scope, source, moment)
  return before === undefined ? undefined : Math.min(before, row.base.version)
}

/** The version that an undo of this version leads back to. */
export async function parentOf(scope: Scope, row: CanvasRow, version: number): Promise<number> {
  if (version === 0) return version - 1
  if (row.base && version <= row.base.version) {
    const source = (await readCanvas(scope, row.base.canvas)).body
    return source ? parentOf(scope, source, version) : version - 1
  }
  for await (const { version: at, update } of versions(scope, row, true)) if (at <= version) return update?.parent ?? version - 1
  return version - 1
}
