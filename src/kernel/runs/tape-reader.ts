// The tape for people: the events of a run, and of what it was forked from, as they stand in the journal.

import type { Event } from '../../model/event.ts'
import type { RunRow } from '../../model/run.ts'
import type { EventQuery } from '../read.ts'
import type { Scope } from '../scope.ts'
import { pastOf } from './take-up.ts'

export async function* tapeOf(
  scope: Scope,
  row: RunRow,
  read: (query: EventQuery) => AsyncGenerator<Event, void, undefined>,
): AsyncGenerator<Event, void, undefined> {
  for (const { run, to } of (await pastOf(scope, row)).sources) yield* read({ run, ...(to !== undefined && { before: to + 1 }) })
}
