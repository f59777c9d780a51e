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
import type { Guard } from '../../../ports/commit.ts'
import { guardsOn } from '../../content/references.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { part } from '../../writing/part.ts'
import { type Round, type Share, transact } from '../../writing/transact.ts'
import { stageValues } from '../values/staged.ts'
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
export type MakeUpdate = (document: unknown, row: CanvasRow | undefined, version: number) => Wanted | Promise<Wanted>

/** One caller's update. */
export interface Request {
  readonly build: MakeUpdate
  readonly expect?: number | undefined
}

export type Told = { readonly version: number } | { readonly error: unknown }

export const checkExpect = (expect: unknown): void => {
  if (expect !== undefined && (!Number.isSafeInteger(expect) || (expect as number) < 0))
    throw invalidOption('expect', 'a version, or 0 for a new canvas', expect)
}

/** Returns the new version, or the present one if nothing changes. */
export async function updateCanvas(scope: Scope, place: CanvasPlace, request: Request): Promise<{ readonly version: number }> {
  checkOpen(scope.engine)
  const end = await scope.engine.rowMutex.take([mutexKey(scope, place)])
  try {
    return toldOne(await updateTogether(scope, place, [request]))
  } finally {
    end()
  }
}

/** What the only caller is told; its error is thrown. */
export function toldOne([one]: readonly Told[]): { readonly version: number } {
  if (!one || 'error' in one) throw one?.error
  return one
}

export const mutexKey = (scope: Scope, { id }: CanvasPlace): string => `${scope.tenant}/canvas/${id}`

/**
 * Makes one version after another and commits them together. The caller holds the mutex of the canvas. Requests that do not fit before the
 * next snapshot are left: the answer has no element for them.
 */
export const updateTogether = (scope: Scope, place: CanvasPlace, requests: readonly Request[]): Promise<readonly Told[]> =>
  transact(
    scope,
    async (scope, round) => {
      const { told, shares } = await updateShares(scope, place, requests, round)
      return [{ committed: () => told }, ...shares]
    },
    { open: place.session },
  )

/** What the callers are told once the shares are committed. There are none if nothing changes. */
interface Updated {
  readonly told: readonly Told[]
  readonly shares: readonly Share[]
}

export async function updateShares(
  scope: Scope,
  place: CanvasPlace,
  requests: readonly Request[],
  round: Round,
  run?: RunId,
): Promise<Updated> {
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
  if (!last) return { told, shares: [] }
  const version = base + made.length
  const taken = damage !== undefined || last.about.snapshot === true || version - (row?.snapshot ?? 0) >= snapshotEvery
  const updates = made.map((one) => {
    const { snapshot: _, ...about } = one.about
    return { ops: one.ops, bytes: one.bytes, ...about, ...(taken && one === last && { snapshot: true as const }) }
  })
  const header = { session, ...(run && { run }), whole: true }
  const own = part(canvas, id, { verb: 'update', id, name, base, updates, rate }, { ...header, seen })
  const written: Share = {
    parts: [own],
    guards: made.flatMap(({ ops }) => ops.flatMap(guardsOfOp)),
    committed: ([left]) => {
      // The updates follow one another, and the last one is the revision of the row.
      const seqs = made.map((_, i) => (left?.revision ?? 0) - made.length + 1 + i)
      if (!damage) remember(scope, { id, row, base, before: first, made, seqs })
    },
  }
  return { told, shares: [written, ...(taken ? await snapshotShares(scope, place, version, last.after as Json, round) : [])] }
}

/** The place of a reference is that in the document. */
const guardsOfOp = (op: PatchOperation): readonly Guard[] => ('value' in op ? guardsOn(op.value, false, placeOf(op.path)) : [])

/** A JSON Pointer as a place: `/a/0/b` is `$.a.0.b`. */
const placeOf = (pointer: string): string => `$${pointer.replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')}`

/** A snapshot of the document, with its content in the same commit. */
export async function snapshotShares(
  scope: Scope,
  { id, session }: CanvasPlace,
  version: number,
  document: Json,
  round: Round,
): Promise<readonly Share[]> {
  const { refs, ...content } = await stageValues(scope, [document], round)
  const command = { verb: 'take', canvas: id, version, ref: refs[0] as string } as const
  return [{ parts: [part(canvasSnapshot, snapshotId(scope, id, version), command, { session, whole: true })] }, content]
}

interface Found {
  /** Undefined if it is damaged. */
  readonly document: unknown
  readonly damage?: InkError
}

/** Damage is an answer; a store that is away is not. */
export const orDamage = (document: Promise<unknown>): Promise<Found> =>
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
