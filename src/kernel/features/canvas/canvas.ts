// `session.canvas(name)`: a versioned JSON document that agents and people edit together.

import type { CanvasRow } from '../../../model/canvas.ts'
import { type Json, takeData, takeExact } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { copyJson } from '../../../model/json-copy.ts'
import { difference } from '../../../model/json-diff.ts'
import { checkPatch, type PatchOperation, replaceRoot } from '../../../model/json-patch.ts'
import { limits } from '../../../model/limits.ts'
import { checkKey, checkKnown, checkSeq, invalidOption, optionsOf } from '../../../model/options.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { checkReason } from '../../proof/erase.ts'
import { instant } from '../../reading/read-events.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { isWhole, telling } from '../../writing/draft.ts'
import { noteMasked } from '../../writing/mask-notice.ts'
import { part } from '../../writing/part.ts'
import { type Build, type Share, transact } from '../../writing/transact.ts'
import { canvas } from './canvas-decider.ts'
import { type CompactReport, compactCanvas } from './compact.ts'
import { documentAt } from './documents.ts'
import { updateInGroup } from './group.ts'
import { type CanvasChange, type CanvasHistoryOptions, changesOf, parentOf, versionAtEvent } from './history.ts'
import { maskPatch } from './mask-patch.ts'
import { readCanvas } from './rows.ts'
import { type CanvasEvent, type SubscribeOptions, subscribe } from './subscribe.ts'
import { type CanvasPlace, checkExpect, type MakeUpdate, orDamage, type Request, snapshotShares, updateCanvas } from './update.ts'

export interface CanvasState<T = unknown> {
  /** JSON, yours to change. */
  readonly document: T
  readonly version: number
}

export interface CanvasUpdateOptions {
  /** The version that the canvas must have; 0 means that it is new. Refused with CANVAS_CHANGED otherwise. */
  readonly expect?: number
  /** `false` stores the content without masking secrets. */
  readonly redact?: boolean
}

/** A moment in the life of a canvas: a version, or what it was after an event of the journal, or at a time. */
export type CanvasMoment = { readonly version: number } | { readonly seq: number } | { readonly time: number | Date }

export interface Canvas {
  readonly name: string
  readonly session: SessionId
  /** Applies a JSON Patch (RFC 6902): all of it or nothing. Returns the new version. */
  patch(ops: readonly PatchOperation[], options?: CanvasUpdateOptions): Promise<{ readonly version: number }>
  /** Makes this the document. Stores a small patch, or the whole document where that is smaller. */
  replace(document: unknown, options?: CanvasUpdateOptions): Promise<{ readonly version: number }>
  /** Undefined if there is no canvas of this name yet. */
  get<T = unknown>(): Promise<CanvasState<T> | undefined>
  /** The document as it was. Undefined if the canvas did not exist then, or never had this version. */
  at<T = unknown>(moment: CanvasMoment): Promise<CanvasState<T> | undefined>
  /** Every version with its patch and the inverse, oldest first. */
  history(options?: CanvasHistoryOptions): AsyncGenerator<CanvasChange, void, undefined>
  /** Takes back the newest update that is not taken back yet, as a new version. */
  undo(options?: Pick<CanvasUpdateOptions, 'expect'>): Promise<{ readonly version: number }>
  /** Makes the document of an earlier version the present one, as a new version. */
  restore(version: number, options?: Pick<CanvasUpdateOptions, 'expect'>): Promise<{ readonly version: number }>
  /** Refuses updates from now on. */
  close(reason: string): Promise<{ readonly version: number }>
  /** Drops snapshots that are not needed. What can be read stays the same. */
  compact(): Promise<CompactReport>
  /** Yields the document, then every patch in order. It ends with the signal, the loop, the canvas or its session. */
  subscribe(options?: SubscribeOptions): AsyncGenerator<CanvasEvent, void, undefined>
}

export const canvasId = (scope: Scope, session: SessionId, name: string): Id<'canvas'> => derivedId(scope, `canvas/${session}/${name}`)

export function placeOf(scope: Scope, session: SessionId, name: string): CanvasPlace {
  checkKey(name)
  return { id: canvasId(scope, session, name), session, name }
}

export class CanvasHandle implements Canvas {
  readonly #scope: Scope
  readonly #place: CanvasPlace

  constructor(scope: Scope, session: SessionId, name: string) {
    this.#scope = scope
    this.#place = placeOf(scope, session, name)
  }

  get name(): string {
    return this.#place.name
  }
  get session(): SessionId {
    return this.#place.session
  }

  async patch(ops: readonly PatchOperation[], options?: CanvasUpdateOptions): Promise<{ readonly version: number }> {
    return updateInGroup(this.#scope, this.#place, patching(this.#scope, ops, options))
  }

  async replace(document: unknown, options?: CanvasUpdateOptions): Promise<{ readonly version: number }> {
    return updateInGroup(this.#scope, this.#place, replacing(this.#scope, document, options))
  }

  async get<T>(): Promise<CanvasState<T> | undefined> {
    const row = await this.#row()
    return row && { document: copyJson(await documentAt(this.#scope, row, row.version)) as T, version: row.version }
  }

  async at<T>(moment: CanvasMoment): Promise<CanvasState<T> | undefined> {
    const { version: given, seq, time, ...unknown } = optionsOf(moment, 'at') as { version?: number; seq?: number; time?: number | Date }
    checkKnown(unknown, 'at')
    if ([given, seq, time].filter((one) => one !== undefined).length !== 1)
      throw invalidOption('at', 'one of version, seq and time', moment)
    if (given !== undefined) checkVersion(given)
    const until = seq === undefined ? (time === undefined ? undefined : { time: instant(time) }) : { seq: checkSeq(seq) }
    const row = await this.#row()
    if (!row) return given === 0 ? { document: {} as T, version: 0 } : undefined
    const version = until ? await versionAtEvent(this.#scope, row, until) : given
    if (version === undefined || version > row.version) return undefined
    return { document: copyJson(await documentAt(this.#scope, row, version)) as T, version }
  }

  async *history(options?: CanvasHistoryOptions): AsyncGenerator<CanvasChange, void, undefined> {
    yield* changesOf(this.#scope, () => this.#row(), options)
  }

  async undo(options?: Pick<CanvasUpdateOptions, 'expect'>): Promise<{ readonly version: number }> {
    const expect = expectOf(options, 'canvas.undo')
    return this.#update(async (document, row) => {
      const to = row?.parent ?? -1
      if (!row || to < 0) throw refuse('CANVAS_VERSION_UNKNOWN', { canvas: this.name, version: to, why: 'there is nothing to undo' })
      const parent = await parentOf(this.#scope, row, to)
      return { ops: back(document, await documentAt(this.#scope, row, to)), kind: 'undo', to, parent }
    }, expect)
  }

  async restore(version: number, options?: Pick<CanvasUpdateOptions, 'expect'>): Promise<{ readonly version: number }> {
    checkVersion(version)
    const expect = expectOf(options, 'canvas.restore')
    return this.#update(async (document, row) => {
      if (version > (row?.version ?? -1))
        throw refuse('CANVAS_VERSION_UNKNOWN', { canvas: this.name, version, why: `the canvas is at version ${row?.version ?? 0}` })
      return {
        ops: back(document, await documentAt(this.#scope, row as CanvasRow, version)),
        kind: 'restore',
        to: version,
        snapshot: true,
      }
    }, expect)
  }

  async close(reason: string): Promise<{ readonly version: number }> {
    checkOpen(this.#scope.engine)
    const why = checkReason(reason)
    const [scope, { id, session, name }] = [this.#scope, this.#place]
    const build: Build<{ readonly version: number }> = async (scope, round) => {
      const seen = await readCanvas(scope, id)
      const row = seen.body
      if (!row) throw refuse('CANVAS_UNKNOWN', { canvas: name })
      const { version } = row
      // A damaged canvas can be closed, without a snapshot.
      const { document } = row.snapshot === version ? { document: undefined } : await orDamage(documentAt(scope, row, version))
      const own = part(canvas, id, { verb: 'close', name, reason: why, snapshot: document !== undefined }, { session, seen })
      const closing: Share<{ readonly version: number }> = { parts: [own], committed: () => ({ version }) }
      if (document === undefined || row.state === 'closed') return closing
      return [closing, ...(await snapshotShares(scope, this.#place, version, document as Json, round))]
    }
    return transact(scope, build, { open: session })
  }

  compact(): Promise<CompactReport> {
    return compactCanvas(this.#scope, this.#place)
  }

  subscribe(options?: SubscribeOptions): AsyncGenerator<CanvasEvent, void, undefined> {
    return subscribe(this.#scope, this.session, () => this.#row(), options)
  }

  #update(build: MakeUpdate, expect: number | undefined): Promise<{ readonly version: number }> {
    return updateCanvas(this.#scope, this.#place, { build, expect })
  }

  async #row(): Promise<CanvasRow | undefined> {
    checkOpen(this.#scope.engine)
    const { body } = await readCanvas(this.#scope, this.#place.id)
    // The payload that named it may have been erased.
    return body && { ...body, name: this.name }
  }
}

const checkVersion = (version: unknown): void => {
  if (!Number.isSafeInteger(version) || (version as number) < 0) throw invalidOption('version', 'an integer ≥ 0', version)
}

function expectOf(options: Pick<CanvasUpdateOptions, 'expect'> | undefined, call: string): number | undefined {
  const { expect, ...unknown } = optionsOf(options, call)
  checkKnown(unknown, call)
  checkExpect(expect)
  return expect
}

function updating(
  options: CanvasUpdateOptions | undefined,
  call: string,
): { readonly whole: boolean; readonly expect: number | undefined } {
  const { expect, redact, ...unknown } = optionsOf(options, call)
  checkKnown(unknown, call)
  checkExpect(expect)
  return { expect, whole: isWhole(redact) }
}

/** Checks a patch that a caller gave, before anything is read. */
export function patching(scope: Scope, ops: readonly PatchOperation[], options: CanvasUpdateOptions | undefined): Request {
  const { expect, whole } = updating(options, 'canvas.patch')
  const checked = telling(scope, () => takeData(checkPatch(jsonOf(ops), { depth: limits.canvasDepth }))) as unknown as typeof ops
  const { redactor } = scope.engine
  return { expect, build: (document) => ({ ops: whole || !redactor ? checked : maskPatch(redactor, document, checked) }) }
}

/** A patch measures JSON, so dates become text before it. Nothing at all is refused by the patch. */
const jsonOf = <T>(given: T): T => (given === undefined ? given : (takeExact(given) as T))

export function replacing(scope: Scope, document: unknown, options: CanvasUpdateOptions | undefined): Request {
  const { expect, whole } = updating(options, 'canvas.replace')
  const taken = telling(scope, () => {
    const given = jsonOf(document)
    checkPatch(replaceRoot(given), { depth: limits.canvasDepth })
    return takeData(given)
  })
  const { redactor } = scope.engine
  const masked = whole || !redactor ? taken : redactor.value(taken)
  if (masked !== taken) noteMasked(scope.engine, 'the document of a canvas', taken, masked)
  return {
    expect,
    build: (before, _, version) => {
      const ops = smaller(before, masked)
      // The first version exists, even if it is an empty document.
      return { ops: ops.length === 0 && version === 0 ? replaceRoot(masked) : ops, kind: 'replace' }
    },
  }
}

/** Undo and restore make a version, even if the document stays as it is. */
function back(before: unknown, after: unknown): readonly PatchOperation[] {
  const ops = smaller(before, after)
  return ops.length === 0 ? replaceRoot(after) : ops
}

function smaller(before: unknown, after: unknown): readonly PatchOperation[] {
  const small = difference(before, after)
  const whole = replaceRoot(after)
  return JSON.stringify(small).length < JSON.stringify(whole).length ? small : whole
}
