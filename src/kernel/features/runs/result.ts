// The end of a run, for callers that wait for it.

import { type InkError, refuse } from '../../../model/errors.ts'
import type { RunId } from '../../../model/ids.ts'
import { isOver, type RunRow } from '../../../model/run.ts'
import { runQueue } from '../../../model/work.ts'
import { load } from '../../content/json-or-blob.ts'
import { briefError, errorOf } from '../../failing/error-data.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { Bell } from '../../reading/read-events.ts'
import type { Scope } from '../../wiring/scope.ts'
import { readRow } from '../../writing/execute.ts'
import { unhandledWatchOf } from '../work/unhandled.ts'

export async function readRun(scope: Scope, id: RunId): Promise<RunRow | undefined> {
  return (await readRow(scope, 'runs', id)).body
}

export function failureOf({ id, name, state, error }: Pick<RunRow, 'id' | 'name' | 'state' | 'error'>): InkError {
  const reason = error?.message ?? 'no reason was given'
  const details = { run: id, name, state, reason, error: error && briefError(error) }
  return state === 'cancelled' ? refuse('RUN_CANCELLED', details) : refuse('RUN_FAILED', details, error && errorOf(error))
}

/** Waits for the result. Throws RUN_FAILED or RUN_CANCELLED if there is none. */
export async function resultOf(scope: Scope, id: RunId, signal?: AbortSignal): Promise<unknown> {
  const bell = new Bell(scope, [signal, scope.engine.closing])
  try {
    for (;;) {
      bell.reset()
      stopIfAsked(scope, signal)
      const row = await readRun(scope, id)
      if (!row) throw refuse('RUN_UNKNOWN', { run: id, tenant: scope.tenant })
      if (row.state === 'done') return await load(scope, row.result)
      if (isOver(row.state)) throw failureOf(row)
      if (row.queued) unhandledWatchOf(scope.engine).expect(scope, runQueue(row.name))
      await bell.rung()
    }
  } finally {
    bell.close()
  }
}
