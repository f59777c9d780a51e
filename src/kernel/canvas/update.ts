// Updates of a canvas. A patch is made for one version and committed only if the canvas still is at that version. Otherwise it is made again
// for the new one, unless the caller expected a version.

import { utf8Length } from '../../model/bytes.ts'
import type { CanvasRow, CanvasUpdate, CanvasUpdateKind } from '../../model/canvas.ts'
import type { Json } from '../../model/data.ts'
import { refuse } from '../../model/errors.ts'
import type { Id, RunId, SessionId } from '../../model/ids.ts'
import { applyPatch, type PatchOperation } from '../../model/json-patch.ts'
import { limits } from '../../model/limits.ts'
import { invalidOption } from '../../model/options.ts'
import type { ValueNode } from '../../model/value.ts'
import type { Guard } from '../../ports/commit.ts'
import { type DoneRow, type Part, part, plan, readRow } from '../execute.ts'
import { referenceGuards } from '../references.ts'
import { retryConflicts } from '../retry-conflicts.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { withValue } from '../values/staged.ts'
import { putValue } from '../values/values.ts'
import { canvas } from './canvas-decider.ts'
import { beginning, documentAt, EMPTY } from './documents.ts'
import { memoryOf } from './memory.ts'
import { canvasOptionsOf } from './options.ts'
import { canvasSnapshot, snapshotId } from './snapshot-decider.ts'

export interface CanvasPlace {
  readonly id: Id<'canvas'>
  readonly session: SessionId
  readonly name: string
}

/** What an update does to the document that it finds. */
export interface Wanted {
  readonly ops: readonly PatchOperation[]
  readonly kind?: CanvasUpdateKind
  readonly to?: number
  readonly parent?: number
  /** Takes a snapshot of the new version. */
  readonly snapshot?: boolean
}

export type Build = (document: unknown, row: CanvasRow | undefined) => Wanted | Promise<Wanted>

/** A commit of an update: its parts, and the content that goes with them. */
export interface Share {
  readonly parts: readonly Part[]
  readonly nodes: readonly ValueNode[]
  readonly guards: readonly Guard[]
}

export interface UpdateOptions {
  readonly expect?: number | undefined
  readonly run?: RunId
  /** Writes the parts. Without it they are a commit of their own. Returns the seq of the update, or undefined if it is not known. */
  readonly commit?: (share: Share, version: number) => Promise<number | undefined>
}

export const checkExpect = (expect: unknown): void => {
  if (expect !== undefined && (!Number.isSafeInteger(expect) || (expect as number) < 0))
    throw invalidOption('expect', 'a version, or 0 for a new canvas', expect)
}

/** Returns the new version, or the present one if nothing changes. */
export async function updateCanvas(
  scope: Scope,
  place: CanvasPlace,
  build: Build,
  options: UpdateOptions = {},
): Promise<{ readonly version: number }> {
  checkOpen(scope.engine)
  const end = await scope.engine.rowMutex.take([`${scope.tenant}/canvas/${place.id}`])
  try {
    return await retryConflicts(scope, ['canvases', 'canvas_snapshots', 'sessions'], () => updateOnce(scope, place, build, options))
  } finally {
    end()
  }
}

async function updateOnce(scope: Scope, place: CanvasPlace, build: Build, options: UpdateOptions): Promise<{ readonly version: number }> {
  const { id, session, name } = place
  const seen = await readRow(scope, 'canvases', id)
  const row = seen.body
  const base = row?.version ?? 0
  checkUpdatable(row, place, options.expect)
  const before = row ? await documentAt(scope, row, base) : EMPTY
  const { ops, snapshot, ...about } = await build(before, row)
  const after = applyPatch(before, ops, { depth: limits.canvasDepth })
  // A patch of tests alone, and no patch at all, change nothing.
  if (ops.every(({ op }) => op === 'test')) return { version: base }
  const bytes = checkSize(scope, name, after, ops)
  const { snapshotEvery, updatesPerMinute: rate } = canvasOptionsOf(scope.engine)
  const taken = snapshot || base + 1 - (row?.snapshot ?? 0) >= snapshotEvery
  const update: Omit<CanvasUpdate, 'version' | 'minute'> = { ops, bytes, ...about, ...(taken && { snapshot: true }) }
  const header = { session, ...(options.run && { run: options.run }), whole: true }
  const own = part(canvas, id, { verb: 'update', id, name, base, update, rate }, { ...header, seen })
  const write = async (share: Share): Promise<number | undefined> => {
    if (options.commit) return options.commit(share, base + 1)
    const { parts, ...content } = share
    return (await plan(scope, parts, { ...content, open: session, once: true })).receipts[0]?.seq
  }
  // The commit of a run carries no nodes, so its snapshot is stored before. A crash in between leaves a value that nothing refers to.
  const stored = taken && options.commit ? await putValue(scope, after as Json) : undefined
  const seq = stored
    ? await write({ parts: [own, snapshotPart(scope, place, base + 1, stored)], nodes: [], guards: referenceGuards([stored]) })
    : taken
      ? await withValue(scope, after as Json, ({ ref, nodes, guards }) =>
          write({ parts: [own, snapshotPart(scope, place, base + 1, ref)], nodes, guards }),
        )
      : await write({ parts: [own], nodes: [], guards: [] })
  if (seq !== undefined) await remember(scope, { row, base, before, after, ops, bytes, seq, id })
  return { version: base + 1 }
}

export const snapshotPart = (scope: Scope, { id, session }: CanvasPlace, version: number, ref: string): Part =>
  part(canvasSnapshot, snapshotId(scope, id, version), { verb: 'take', canvas: id, version, ref }, { session, whole: true })

function checkUpdatable(row: CanvasRow | undefined, { name }: CanvasPlace, expect: number | undefined): void {
  const version = row?.version ?? 0
  if (row?.state === 'closed') throw refuse('CANVAS_CLOSED', { canvas: name, reason: row.reason, version })
  if (expect !== undefined && expect !== version) throw refuse('CANVAS_CHANGED', { canvas: name, expect, found: version })
}

function checkSize(scope: Scope, name: string, document: unknown, ops: readonly PatchOperation[]): number {
  const bytes = utf8Length(JSON.stringify(document))
  const { documentBytes: limit } = canvasOptionsOf(scope.engine)
  if (bytes > limit) throw refuse('CANVAS_TOO_LARGE', { canvas: name, bytes, limit })
  const most = Math.max(limit, scope.engine.payloadBytes - 1024)
  if (utf8Length(JSON.stringify(ops)) > most) throw refuse('PATCH_TOO_LARGE', { limit: most, unit: 'bytes' })
  return bytes
}

interface Made {
  readonly id: Id<'canvas'>
  readonly row: CanvasRow | undefined
  readonly base: number
  readonly before: unknown
  readonly after: unknown
  readonly ops: readonly PatchOperation[]
  readonly bytes: number
  readonly seq: number
}

/** Adds the new version to the memory, so that the next reader need not read its event. */
async function remember(scope: Scope, { id, row, base, before, after, ops, bytes, seq }: Made): Promise<void> {
  const memory = memoryOf(scope.engine)
  const of = (row ?? { id }) as CanvasRow
  const known = memory.find(scope.tenant, of, base)
  const { snapshotEvery } = canvasOptionsOf(scope.engine)
  const grows = known && known.first + known.patches.length === base && known.patches.length < snapshotEvery
  const from = grows ? known : beginning(base, before, seq, bytes)
  memory.keep(scope.tenant, of, {
    first: from.first,
    documents: [...from.documents, after],
    patches: [...from.patches, ops],
    through: seq,
    bytes: from.bytes + bytes / 8 + 2 * JSON.stringify(ops).length,
  })
}

export const seenRow = (scope: Scope, id: Id<'canvas'>): Promise<DoneRow<CanvasRow>> => readRow(scope, 'canvases', id)
