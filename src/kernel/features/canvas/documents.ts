// The document of a canvas at a version: the nearest snapshot before it, and the patches since. A snapshot that is lost or damaged is passed
// over, because older ones and the patches lead to the same document.

import type { CanvasRow, CanvasUpdate } from '../../../model/canvas.ts'
import type { Json } from '../../../model/data.ts'
import { InkError, refuse } from '../../../model/errors.ts'
import type { EventRecord } from '../../../model/event.ts'
import { applyPatch, type PatchOperation } from '../../../model/json-patch.ts'
import { limits } from '../../../model/limits.ts'
import { decodePayload } from '../../reading/decode-event.ts'
import { everyRow } from '../../reading/every-row.ts'
import type { Scope } from '../../wiring/scope.ts'
import { readValue } from '../values/values.ts'
import { documentIn, lastOf, memoryOf, type Stretch } from './memory.ts'
import { canvasOptionsOf } from './options.ts'
import { readCanvas, snapshotIn } from './rows.ts'

export const EMPTY: Json = {}

export const PATCHED = [{ text: 'canvas.patched', prefix: false }] as const

/** Returns the document, which is shared with the memory of this process: copy it before you give it away. */
export async function documentAt(scope: Scope, row: CanvasRow, version: number): Promise<unknown> {
  return documentIn(await stretchTo(scope, row, version), version)
}

/** Returns the patch that made a version, shared in the same way. */
export async function patchTo(scope: Scope, row: CanvasRow, version: number): Promise<readonly PatchOperation[]> {
  const stretch = await stretchTo(scope, row, version, version - 1)
  return stretch.patches[version - 1 - stretch.first] as readonly PatchOperation[]
}

/** Returns consecutive versions from `first` or earlier to this one or later. */
async function stretchTo(scope: Scope, row: CanvasRow, version: number, first = version): Promise<Stretch> {
  if (version === 0) return beginning(0, EMPTY, 0, 2)
  if (row.base && first < row.base.version) {
    const source = (await readCanvas(scope, row.base.canvas)).body
    if (!source) throw refuse('CANVAS_VERSION_UNKNOWN', { canvas: row.name, version, why: 'the canvas it was forked from is gone' })
    return stretchTo(scope, source, version, first)
  }
  const memory = memoryOf(scope.engine)
  const known = memory.find(scope.tenant, row, version, first)
  if (known && lastOf(known) >= version) return known
  const { snapshotEvery } = canvasOptionsOf(scope.engine)
  const near = known && lastOf(known) <= first && version - lastOf(known) <= snapshotEvery
  const stretch = near ? await replay(scope, row, continued(known, snapshotEvery), version).catch(() => undefined) : undefined
  // A patch that cannot be read is passed over where there is a snapshot behind it.
  const found = stretch ?? (await replay(scope, row, await snapshotBefore(scope, row, first), version))
  memory.keep(scope.tenant, row, found)
  return found
}

/** A stretch grows up to the length between two snapshots. After that, another one begins where it ends. */
const continued = (known: Stretch, most: number): Stretch =>
  known.patches.length < most ? known : beginning(lastOf(known), known.documents.at(-1), known.through, known.bytes / 2)

export const beginning = (first: number, document: unknown, through: number, bytes: number): Stretch => ({
  first,
  documents: [document],
  patches: [],
  through,
  bytes,
})

async function snapshotBefore(scope: Scope, row: CanvasRow, version: number): Promise<Stretch> {
  const query = { index: 'byCanvas', equals: [row.id], from: 0, below: version + 1, backwards: true, limit: 2 }
  let failure: unknown
  for await (const stored of everyRow(scope, 'canvas_snapshots', query)) {
    const { ref, version: at = 0 } = snapshotIn(stored) ?? {}
    if (ref === undefined) continue
    try {
      return beginning(at, await readValue(scope, ref), stored.born, row.bytes)
    } catch (error) {
      if (!(error instanceof InkError && (error.kind === 'missing' || error.kind === 'corrupt'))) throw error
      failure = error
    }
  }
  if (row.base) throw damaged(row, row.base.version, 'its first snapshot is lost', failure)
  return beginning(0, EMPTY, 0, 2)
}

/** Applies patches until the version is reached, and those up to the next snapshot that are read with them. */
async function replay(scope: Scope, row: CanvasRow, from: Stretch, version: number): Promise<Stretch> {
  const documents = [...from.documents]
  const patches = [...from.patches]
  let { through, bytes } = from
  const most = Math.max(version - from.first, Math.min(canvasOptionsOf(scope.engine).snapshotEvery, row.version - from.first))
  for (let more = true; more && patches.length < most; ) {
    const query = { subject: row.id, types: PATCHED, from: through, limit: most - patches.length, bytes: limits.pageBytes }
    const page = await scope.engine.backend.journal.page(scope.tenant, query)
    for (const event of page.events) {
      const at = from.first + patches.length + 1
      try {
        const { ops, version: made } = updateOf(scope, event)
        if (made !== at) throw MISSING
        documents.push(applyPatch(documents.at(-1), ops))
        patches.push(ops)
      } catch (error) {
        // The versions before the damage are there.
        if (at > version) return { first: from.first, documents, patches, through, bytes }
        throw damaged(row, at, reasonOf(error), error)
      }
      through = event.seq
      bytes += 2 * (event.payload?.length ?? 0) + row.bytes / 8
    }
    more = page.more
  }
  if (from.first + patches.length < version) throw damaged(row, from.first + patches.length + 1, MISSING.message)
  return { first: from.first, documents, patches, through, bytes }
}

/** The update in an event. Throws if its payload was erased or is damaged. */
export function updateOf(scope: Scope, event: EventRecord): CanvasUpdate {
  if (event.payload === undefined) throw refuse('EVENT_UNKNOWN', { seq: event.seq, tenant: scope.tenant, head: event.seq })
  const update = decodePayload(scope.tenant, event.seq, event.payload) as CanvasUpdate | null
  if (Array.isArray(update?.ops) && Number.isSafeInteger(update.version)) return update
  throw refuse('JOURNAL_BROKEN', { tenant: scope.tenant, seq: event.seq, reason: 'the payload is not an update of a canvas' })
}

/** The same, undefined if its payload was erased or is damaged. */
export function updateIn(scope: Scope, event: EventRecord): CanvasUpdate | undefined {
  try {
    return updateOf(scope, event)
  } catch (error) {
    if (error instanceof InkError) return undefined
    throw error
  }
}

const MISSING = new Error('its event is missing')

const reasonOf = (error: unknown): string => {
  if (error === MISSING) return MISSING.message
  if (!(error instanceof InkError)) return 'its patch cannot be read'
  return error.code === 'EVENT_UNKNOWN' ? 'its payload was erased' : `its patch cannot be applied (${error.code})`
}

const damaged = ({ name, session }: CanvasRow, version: number, why: string, cause?: unknown): InkError =>
  refuse('CANVAS_DAMAGED', { canvas: name, session, version, why }, cause)
