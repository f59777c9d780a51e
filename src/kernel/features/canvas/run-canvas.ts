// `run.canvas(name)`: updates on the tape. A version and its entry on the tape are one commit under the fence of the run, so replay patches nothing
// twice. A refusal is recorded too, because the program may have caught it.

import { type ErrorCode, InkError, refuse } from '../../../model/errors.ts'
import type { PatchOperation } from '../../../model/json-patch.ts'
import { checkKey } from '../../../model/options.ts'
import type { BranchHandle } from '../runs/program/branch.ts'
import { slotOf } from '../runs/program/call.ts'
import type { BuildChange } from '../runs/writing/change.ts'
import { CanvasHandle, type CanvasState, type CanvasUpdateOptions, patching, placeOf, replacing } from './canvas.ts'
import { mutexKey, type Request, toldOne, updateShares } from './update.ts'

export interface RunCanvas {
  /** Applies a JSON Patch once, however often the run is replayed. */
  patch(ops: readonly PatchOperation[], options?: CanvasUpdateOptions): Promise<{ readonly version: number }>
  /** Makes this the document, once. */
  replace(document: unknown, options?: CanvasUpdateOptions): Promise<{ readonly version: number }>
  /** The document as the run first saw it here; replay sees the same. */
  get<T = unknown>(): Promise<CanvasState<T> | undefined>
}

interface Outcome {
  readonly version?: number
  readonly refused?: { readonly code: ErrorCode; readonly details: Readonly<Record<string, unknown>> }
}

/** Refusals that say something about the canvas. Others say something about the run or the store, and are not recorded. */
const TOLD: readonly ErrorCode[] = [
  ...([
    'PATCH_FAILED',
    'PATCH_TEST_FAILED',
    'PATCH_TOO_LARGE',
    'CANVAS_CHANGED',
    'CANVAS_CLOSED',
    'CANVAS_TOO_LARGE',
    'RATE_LIMITED',
  ] as const),
]

export function runCanvas(branch: () => BranchHandle, name: string): RunCanvas {
  checkKey(name)
  // A call that is not valid is refused before it counts, so that replay does not wait for it.
  return {
    patch: async (ops, options) => {
      const on = branch()
      return update(on, name, patching(on.open.scope, ops, options))
    },
    replace: async (document, options) => {
      const on = branch()
      return update(on, name, replacing(on.open.scope, document, options))
    },
    get: async <T>() => {
      const on = branch()
      const { scope, row } = on.open
      const found = await on.effect<CanvasState | null>(
        `canvas ${name}`,
        async () => (await new CanvasHandle(scope, row.session, name).get()) ?? null,
      )
      return (found ?? undefined) as CanvasState<T> | undefined
    },
  }
}

async function update(branch: BranchHandle, name: string, request: Request): Promise<{ readonly version: number }> {
  const { open } = branch
  const entry = await branch.asks('canvas', name, async (asked) => {
    const { scope } = open
    const at = scope.engine.environment.clock.now()
    const place = placeOf(scope, open.row.session, name)
    const take = (outcome: Outcome) =>
      ({ verb: 'take', id: open.id, slot: slotOf(asked), kind: 'canvas', outcome: { ...outcome } }) as const
    const done = (outcome: Outcome) => ({ ...asked, seq: 0, at, done: true, outcome: { ...outcome } })
    const build: BuildChange<Outcome> = async (scope, round) => {
      const { told, shares } = await updateShares(scope, place, [request], round, open.id)
      // The tape says it, too, if nothing changed.
      const { version } = toldOne(told)
      return { command: take({ version }), whole: true, shares: [{ committed: () => ({ version }) }, ...shares] }
    }
    const end = await scope.engine.rowMutex.take([mutexKey(scope, place)])
    try {
      return done(await open.transact('take', build, { at }))
    } catch (error) {
      if (!(error instanceof InkError && TOLD.includes(error.code))) throw error
      const outcome = { refused: { code: error.code, details: error.details } }
      await open.change(take(outcome), [], { at })
      return done(outcome)
    } finally {
      end()
    }
  })
  const { version, refused } = (entry.outcome ?? {}) as Outcome
  if (refused) throw refuse(refused.code, refused.details)
  return { version: version as number }
}
