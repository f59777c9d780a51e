// Reads the tape for people: the events of a run and of its forked past, as they are in the journal.

import type { Event, EventRecord } from '../../../../model/event.ts'
import { checkKnown, optionsOf } from '../../../../model/options.ts'
import type { RunRow } from '../../../../model/run.ts'
import { stopIfAsked } from '../../../reading/abortable.ts'
import { readEvents } from '../../../reading/read-events.ts'
import type { Scope } from '../../../wiring/scope.ts'
import { readRun } from '../result.ts'
import { isMark } from './append-mark.ts'
import type { Source } from './tape.ts'

export async function* tapeOf(
  scope: Scope,
  row: RunRow,
  options?: { readonly signal?: AbortSignal },
): AsyncGenerator<Event, void, undefined> {
  const { signal, ...unknown } = optionsOf(options, 'tape')
  checkKnown(unknown, 'a tape')
  stopIfAsked(scope, signal)
  for (const { run, to } of (await pastOf(scope, row)).sources)
    yield* readEvents(scope, { run, ...(to !== undefined && { before: to + 1 }), ...(signal && { signal }) }, (record) =>
      isOnTape(scope, row, record),
    )
}

/** An event that a caller appended with the id of the run is not on the tape: the program did not ask for it, and replay does not read it. */
const isOnTape = (scope: Scope, { origin }: RunRow, { type, key }: EventRecord): boolean =>
  scope.engine.registry.isReserved(type) || (key !== undefined && isMark(scope, origin, key))

/** The tapes of the runs that this one was forked from, oldest first, then its own, and when the first of them was opened. */
export async function pastOf(scope: Scope, row: RunRow): Promise<{ readonly sources: readonly Source[]; readonly since: number }> {
  const sources: Source[] = [{ run: row.id }]
  let [to, since] = [Infinity, row.openedAt]
  for (let { fork } = row; fork; ) {
    to = Math.min(to, fork.at)
    sources.unshift({ run: fork.run, to })
    const parent = await readRun(scope, fork.run)
    since = parent?.openedAt ?? since
    fork = parent?.fork
  }
  return { sources, since }
}
