// Reads the tape for people: the events of a run and of its forked past, as they are in the journal.

import type { Event } from '../../model/event.ts'
import type { RunRow } from '../../model/run.ts'
import type { EventQuery } from '../read.ts'
import type { Scope } from '../scope.ts'
import { readRun } from './result.ts'
import type { Source } from './tape.ts'

export async function* tapeOf(
  scope: Scope,
  row: RunRow,
  read: (query: EventQuery) => AsyncGenerator<Event, void, undefined>,
): AsyncGenerator<Event, void, undefined> {
  for (const { run, to } of (await pastOf(scope, row)).sources) yield* read({ run, ...(to !== undefined && { before: to + 1 }) })
}

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
