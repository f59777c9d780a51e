// The options of canvases in `open`, checked once per store.

import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import type { Engine } from '../../wiring/scope.ts'

export interface CanvasOptions {
  /** The largest document, as JSON. The default is 64 KiB. */
  readonly documentBytes?: number
  /** Updates of one canvas in a minute. The default is 120; `Infinity` is no limit. */
  readonly updatesPerMinute?: number
  /** A snapshot is taken after so many patches. The default is 64. */
  readonly snapshotEvery?: number
}

/** Room for the rest of an event that replaces the whole document. */
const EVENT_ROOM = 1024

export const canvasOptionsOf = enginePart((engine: Engine): Required<CanvasOptions> => {
  const {
    documentBytes = Math.min(limits.canvasBytes, engine.payloadBytes),
    updatesPerMinute = limits.canvasUpdates,
    snapshotEvery = limits.canvasSnapshotEvery,
    ...unknown
  } = optionsOf(engine.options.canvas, 'canvas')
  checkKnown(unknown, 'canvas')
  const most = Math.max(engine.payloadBytes - EVENT_ROOM, 2)
  if (!Number.isInteger(documentBytes) || documentBytes < 2 || (engine.options.canvas?.documentBytes !== undefined && documentBytes > most))
    throw invalidOption('canvas.documentBytes', `an integer from 2 to ${most}, because an event holds the document`, documentBytes)
  if (updatesPerMinute !== Infinity && (!Number.isInteger(updatesPerMinute) || updatesPerMinute < 1))
    throw invalidOption('canvas.updatesPerMinute', 'an integer ≥ 1, or Infinity', updatesPerMinute)
  if (!Number.isInteger(snapshotEvery) || snapshotEvery < 1 || snapshotEvery > limits.canvasReplay)
    throw invalidOption('canvas.snapshotEvery', `an integer from 1 to ${limits.canvasReplay}`, snapshotEvery)
  return { documentBytes, updatesPerMinute, snapshotEvery }
})
