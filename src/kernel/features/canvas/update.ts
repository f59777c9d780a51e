// Updates of a canvas. A patch is made for one version and committed only if the canvas still is at that version. Otherwise it is made again
// for the new one, unless the caller expected a version.

import { utf8Length } from '../../../model/bytes.ts'
import type { CanvasRow, CanvasUpdateKind } from '../../../model/canvas.ts'
import type { Json } from '../../../model/data.ts'
import { InkError, refuse } from '../../../model/errors.ts'
import type { Id, RunId, SessionId } from '../../../model/ids.ts'
import { applyPatch, type PatchOperation } from '../../../model/json-patch.ts'
import { limits } from '../../../model/limits.ts'
import { invalidOption } from '../../../model/options.ts'
import type { ValueNode } from '../../../model/value.ts'
import type { Guard } from '../../../ports/commit.ts'
import { referenceGuards } from '../../content/references.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { type Part, part, plan } from '../../writing/execute.ts'
import { conflictOrGone, retryConflicts } from '../../writing/retry-conflicts.ts'
import { withValue } from '../values/staged.ts'
import { putValue } from '../values/values.ts'
import { canvas } from './canvas-decider.ts'
import { beginning, documentAt, EMPTY } from './documents.ts'
import { memoryOf } from './memory.ts'
import { canvasOptionsOf } from './options.ts'
import { readCanvas } from './rows.ts'
import { canvasSnapshot, snapshotId } from './snapshot-decider.ts'

export interface CanvasPlace {
  readonly id: Id<'canvas'>
  readonly session: SessionId
  readonly name: string
}

/** The operations of an update, as computed for the document that it finds. */
export interface Wanted {
  readonly ops: readonly PatchOperation[]
  readonly kind?: CanvasUpdateKind
  readonly to?: number
  readonly parent?: number
  /** Takes a snapshot of the new version. */
  readonly snapshot?: boolean
}

/** `version` is that of the document, 0 if the canvas is new. */
export type Build = (document: unknown, row: CanvasRow | undefined, version: number) => Wanted | Promise<Wanted>

/** One caller's update. */
export interface Request {
  readonly build: Build
  readonly expect?: number | undefined
}

export type Told = { readonly version: number } | { readonly error: unknown }

/** A commit of an update: its parts, and the content that goes with them. */
export interface Share {
  readonly parts: readonly Part[]
  readonly nodes: readonly ValueNode[]
  readonly guards: readonly Guard[]
}

export interface UpdateOptions {
  readonly run?: RunId
  /** Writes the parts. Without it they are a commit of their own. Returns the seqs of the updates, as far as they are known. */
  readonly commit?: (share: Share, version: number) => Promise<readonly number[]>
}

export const checkExpect = (expect: unknown): void => {
  if (expect !== undefined && (!Number.isSafeInteger(expect) || (expect as number) < 0))
    throw invalidOption('expect', 'a version, or 0 for a new canvas', expect)
}

/** Returns the new version, or the present one if nothing changes. */
export async function updateCanvas(
  scope: Scope,
  place: CanvasPlace,
  request: Request,
  options: UpdateOptions = {},
): Promise<{ readonly version: number }> {
  checkOpen(scope.engine)
  const end = await scope.engine.rowMutex.take([mutexKey(scope, place)])
  try {
    const [told] = await updateTogether(scope, place, [request], options)
    if (!told || 'error' in told) throw told?.error
    return told
  } finally {
    end()
  }
}

export const mutexKey = (scope: Scope, { id }: CanvasPlace): string => `${scope.tenant}/canvas/${id}`

/**
 * Makes one version after another and commits them together. The caller holds the mutex of the canvas. Requests that do not fit before the
 * next snapshot are left: the answer has no element for them.
 */
export const updateTogether = (
  scope: Scope,
  place: CanvasPlace,
  requests: readonly Request[],
  options: UpdateOptions = {},
): Promise<readonly Told[]> =>
  retryConflicts(scope, conflictOrGone('canvases', 'canvas_snapshots', 'sessions'), () => updateOnce(scope, place, requests, options))

async function updateOnce(
  scope: Scope,
  place: CanvasPlace,
  requests: readonly Request[],
  options: UpdateOptions,
): Promise<readonly Told[]> {
  const { id, session, name } = place
  const seen = await readCanvas(scope, id)
  const row = seen.body
  const base = row?.version ?? 0
  const { snapshotEvery, updatesPerMinute: rate } = canvasOptionsOf(scope.engine)
  // A document that cannot be read can be replaced. The snapshot of the new one lets readers pass over the damage.
  const { document: first, damage } = row ? await orDamage(documentAt(scope, row, base)) : { document: EMPTY }
  const room = damage ? 1 : Math.max(1, snapshotEvery - (base - (row?.snapshot ?? 0)))
  const told: Told[] = []
  const made: Made[] = []
  for (const { build, expect } of requests) {
    if (made.length === room) break
    const version = base + made.length
    try {
      checkUpdatable(row, version, place, expect)
      const before = made.length === 0 ? first : made.at(-1)?.after
      const { ops, ...about } = await build(before, row, version)
      const after = applyPatch(before, ops, { depth: limits.canvasDepth })
      if (after === undefined) throw damage
      // A patch of tests alone, and no patch at all, change nothing.
      if (!ops.every(({ op }) => op === 'test')) made.push({ ops, about, after, bytes: checkSize(scope, name, after, ops) })
      told.push({ version: base + made.length })
    } catch (error) {
      told.push({ error: damage && isMisfit(error) ? damage : error })
    }
  }
  const last = made.at(-1)
  if (!last) return told
  const version = base + made.length
  const taken = damage !== undefined || last.about.snapshot === true || version - (row?.snapshot ?? 0) >= snapshotEvery
  const updates = made.map((one) => {
    const { snapshot: _, ...about } = one.about
    return { ops: one.ops, bytes: one.bytes, ...about, ...(taken && one === last && { snapshot: true as const }) }
  })
  const header = { session, ...(options.run && { run: options.run }), whole: true }
  const own = part(canvas, id, { verb: 'update', id, name, base, updates, rate }, { ...header, seen })
  const write = async (share: Share): Promise<readonly number[]> => {
    if (options.commit) return options.commit(share, version)
    const { parts, ...content } = share
    return (await plan(scope, parts, { ...content, open: session, once: true })).receipts.map(({ seq }) => seq)
  }
  const seqs = await withSnapshot(
    scope,
    place,
    taken ? { version, document: last.after, early: options.commit !== undefined } : undefined,
    own,
    write,
  )
  if (!damage) remember(scope, { id, row, base, before: first, made, seqs })
  return told
}

interface Found {
  /** Undefined if it is damaged. */
  readonly document: unknown
  readonly damage?: InkError
}

const orDamage = (document: Promise<unknown>): Promise<Found> =>
  document.then(
    (found) => ({ document: found }),
    (error: unknown) => {
      if (error instanceof InkError && error.code === 'CANVAS_DAMAGED') return { document: undefined, damage: error }
      throw error
    },
  )

/** A patch that needs the document, and not only its place. */
const isMisfit = (error: unknown): boolean => error instanceof InkError && MISFITS.includes(error.code)
const MISFITS: readonly string[] = ['PATCH_FAILED', 'PATCH_TEST_FAILED', 'PATCH_INVALID']

interface Made {
  readonly ops: readonly PatchOperation[]
  readonly about: Omit<Wanted, 'ops'>
  readonly after: unknown
  readonly bytes: number
}

interface Snapshot {
  readonly version: number
  readonly document: unknown
  /** The commit of a run carries no nodes, so its snapshot is stored before. A crash in between leaves a value that nothing refers to. */
  readonly early: boolean
}

async function withSnapshot<T>(
  scope: Scope,
  place: CanvasPlace,
  snapshot: Snapshot | undefined,
  own: Part,
  write: (share: Share) => Promise<T>,
): Promise<T> {
  if (!snapshot) return write({ parts: [own], nodes: [], guards: [] })
  const { version, early } = snapshot
  const document = snapshot.document as Json
  if (early) {
    const ref = await putValue(scope, document)
    return write({ parts: [own, snapshotPart(scope, place, version, ref)], nodes: [], guards: referenceGuards([ref]) })
  }
  return withValue(scope, document, ({ ref, nodes, guards }) =>
    write({ parts: [own, snapshotPart(scope, place, version, ref)], nodes, guards }),
  )
}

export const snapshotPart = (scope: Scope, { id, session }: CanvasPlace, version: number, ref: string): Part =>
  part(canvasSnapshot, snapshotId(scope, id, version), { verb: 'take', canvas: id, version, ref }, { session, whole: true })

function checkUpdatable(row: CanvasRow | undefined, version: number, { name }: CanvasPlace, expect: number | undefined): void {
  if (row?.state === 'closed') throw refuse('CANVAS_CLOSED', { canvas: name, reason: row.reason, version })
  if (expect !== undefined && expect !== version) throw refuse('CANVAS_CHANGED', { canvas: name, expect, found: version })
}

/** What a root replacement has around the document: the largest document can be written with one. */
const ROOT_BYTES = 64

function checkSize(scope: Scope, name: string, document: unknown, ops: readonly PatchOperation[]): number {
  const bytes = utf8Length(JSON.stringify(document))
  const { documentBytes: limit } = canvasOptionsOf(scope.engine)
  if (bytes > limit) throw refuse('CANVAS_TOO_LARGE', { canvas: name, bytes, limit })
  const most = Math.max(limit, scope.engine.payloadBytes - 1024) + ROOT_BYTES
  if (utf8Length(JSON.stringify(ops)) > most) throw refuse('PATCH_TOO_LARGE', { limit: most, unit: 'bytes' })
  return bytes
}

interface Remembered {
  readonly id: Id<'canvas'>
  readonly row: CanvasRow | undefined
  readonly base: number
  readonly before: unknown
  readonly made: readonly Made[]
  readonly seqs: readonly number[]
}

/** Adds the new versions to the memory, so that the next reader need not read their events. */
function remember(scope: Scope, { id, row, base, before, made, seqs }: Remembered): void {
  const memory = memoryOf(scope.engine)
  const of = (row ?? { id }) as CanvasRow
  const { snapshotEvery } = canvasOptionsOf(scope.engine)
  for (const [i, { after, ops, bytes }] of made.entries()) {
    const seq = seqs[i]
    if (seq === undefined) return
    const at = base + i
    const known = memory.find(scope.tenant, of, at)
    const grows = known && known.first + known.patches.length === at && known.patches.length < snapshotEvery
    const from = grows ? known : beginning(at, i === 0 ? before : made[i - 1]?.after, seq, bytes)
    memory.keep(scope.tenant, of, {
      first: from.first,
      documents: [...from.documents, after],
      patches: [...from.patches, ops],
      through: seq,
      bytes: from.bytes + bytes / 8 + 2 * JSON.stringify(ops).length,
    })
  }
}
