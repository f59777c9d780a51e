// A subscription to a canvas: the document first, then every patch in order. A subscriber that has missed updates gets the patches or the
// document, whichever is shorter.

import type { CanvasRow } from '../../../model/canvas.ts'
import { InkError } from '../../../model/errors.ts'
import type { SessionId } from '../../../model/ids.ts'
import { copyJson } from '../../../model/json-copy.ts'
import type { PatchOperation } from '../../../model/json-patch.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { tail } from '../../reading/abortable.ts'
import { Bell } from '../../reading/read-events.ts'
import { readSessionRow } from '../../session/session-row.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { documentAt, EMPTY, patchTo } from './documents.ts'

export type CanvasEvent =
  | { readonly version: number; readonly snapshot: unknown }
  | { readonly version: number; readonly patch: readonly PatchOperation[] }

export interface SubscribeOptions {
  readonly signal?: AbortSignal
  /** The version that the subscriber has. Without it, the document comes first. */
  readonly from?: number
}

/** A waiting subscription also ends by `return()`. */
export function subscribe(
  scope: Scope,
  session: SessionId,
  find: () => Promise<CanvasRow | undefined>,
  options: SubscribeOptions | undefined,
): AsyncGenerator<CanvasEvent, void, undefined> {
  return tail(scope, (leaving) => follow(scope, session, find, options, leaving))
}

async function* follow(
  scope: Scope,
  session: SessionId,
  find: () => Promise<CanvasRow | undefined>,
  options: SubscribeOptions | undefined,
  leaving: AbortSignal,
): AsyncGenerator<CanvasEvent, void, undefined> {
  const { signal, from, ...unknown } = optionsOf(options, 'canvas.subscribe')
  checkKnown(unknown, 'canvas.subscribe')
  if (from !== undefined && (!Number.isSafeInteger(from) || from < 0)) throw invalidOption('from', 'a version', from)
  checkOpen(scope.engine)
  const isOver = () => leaving.aborted || signal?.aborted || scope.engine.closing.aborted
  const bell = new Bell(scope, [signal, leaving, scope.engine.closing])
  let version = from
  try {
    while (!isOver()) {
      // The bell is reset before reading, so that an update during the read rings it again.
      bell.reset()
      const row = await find()
      if (!row && (await isDeleted(scope, session))) return
      const at = row?.version ?? 0
      if (version !== at) {
        for (const event of await news(scope, row, version)) {
          yield event
          version = event.version
          if (isOver()) return
        }
        continue
      }
      if (row?.state === 'closed') return
      await bell.rung()
    }
  } finally {
    bell.close()
  }
}

async function isDeleted(scope: Scope, session: SessionId): Promise<boolean> {
  const { body } = await readSessionRow(scope, session)
  return !body || body.state === 'deleted'
}

/** The shortest patch has this many characters. */
const LEAST = 30

/** Some of what a subscriber at a version has missed. */
async function news(scope: Scope, row: CanvasRow | undefined, version: number | undefined): Promise<readonly CanvasEvent[]> {
  if (!row) return [{ version: 0, snapshot: copyJson(EMPTY) }]
  const whole = async () => [{ version: row.version, snapshot: copyJson(await documentAt(scope, row, row.version)) }]
  const missed = row.version - (version ?? 0)
  if (version === undefined || missed < 0 || missed * LEAST > row.bytes + limits.canvasBatch * LEAST) return whole()
  const patches: CanvasEvent[] = []
  let size = 0
  try {
    for (let at = version; at < row.version; at++) {
      const patch = await patchTo(scope, row, at + 1)
      size += JSON.stringify(patch).length
      // One patch is the news itself. Of several, the document may be shorter.
      if (size > row.bytes && missed > 1) return whole()
      patches.push({ version: at + 1, patch: copyJson(patch) })
    }
  } catch (error) {
    // Damaged, or of a source that is gone.
    if (error instanceof InkError && (error.code === 'CANVAS_DAMAGED' || error.code === 'CANVAS_VERSION_UNKNOWN')) return whole()
    throw error
  }
  return patches
}
