// Decides all parts of a commit, and folds the facts into rows. Nothing here waits.

import { assert, type InkError, refuse } from '../../model/errors.ts'
import type { EventDraft, Receipt } from '../../model/event.ts'
import { limits } from '../../model/limits.ts'
import type { Body } from '../../model/rows.ts'
import type { Change, CommitKey, Guard } from '../../ports/commit.ts'
import type { Checked } from '../content/references.ts'
import type { WriteTime } from '../measuring/write-time.ts'
import { erasedName } from '../naming/erased-names.ts'
import type { Scope } from '../wiring/scope.ts'
import type { Decision, Fact, Happened } from './decider.ts'
import { admitPayload, draftEvent } from './draft.ts'
import { foldFact } from './fold.ts'
import type { DoneRow, Part } from './part.ts'

export interface Merged {
  readonly guards: readonly Guard[]
  /** Payloads whose references must exist. */
  readonly checked: readonly Checked[]
  readonly events: readonly EventDraft[]
  readonly changes: readonly Change[]
  readonly refusal: InkError | undefined
  readonly after: (receipts: readonly Receipt[]) => readonly DoneRow[]
}

const NO_GUARDS: readonly Guard[] = []

export function merge(
  scope: Scope,
  parts: readonly Part[],
  before: readonly DoneRow[],
  key: CommitKey | undefined,
  time: WriteTime,
  at?: number,
): Merged {
  const decided = parts.map((part, i) => {
    const { facts, refusal } = decide(scope, part, (before[i] as DoneRow<Body>).body)
    return { refusal, facts: facts.map(({ type, data }) => ({ type, payload: admitPayload(scope, data, part).payload })) }
  })
  time.masked()
  const guards: Guard[] = []
  const checked: Checked[] = []
  const events: EventDraft[] = []
  const changes: Change[] = []
  const left: { body: Body | undefined; event: number }[] = []
  parts.forEach((part, i) => {
    const { body, revision } = before[i] as DoneRow<Body>
    const { facts } = decided[i] as (typeof decided)[number]
    let now = body
    if (facts.length > 0) guards.push({ kind: 'row', table: part.decider.table, id: part.id, revision }, ...(part.guards ?? NO_GUARDS))
    for (const { type, payload } of facts) {
      if (!part.copied) checked.push({ payload, outside: part.outside })
      const { session, run, cause } = part
      const draft = draftEvent(scope, { type, session, run, cause, subject: part.id, key: key?.digest, at }, payload)
      const folded = foldFact(part.decider, now, happened(draft), events.length)
      // The name must be free, among erased names too.
      for (const name of folded.taken)
        for (const id of [name, erasedName(scope.engine, name)]) guards.push({ kind: 'row', table: 'names', id, revision: 0 })
      changes.push(...folded.changes)
      events.push(draft)
      now = folded.body
    }
    left.push({ body: now, event: facts.length > 0 ? events.length - 1 : -1 })
  })
  if (events.length > limits.commitEvents)
    throw refuse('COMMIT_TOO_LARGE', { limit: limits.commitEvents, unit: 'events', found: events.length })
  const after = (receipts: readonly Receipt[]) =>
    left.map(({ body, event }, i) => ({ body, revision: event < 0 ? (before[i] as DoneRow).revision : (receipts[event] as Receipt).seq }))
  const refusal = decided.find((decision) => decision.refusal)?.refusal
  return { guards, checked, events, changes, refusal, after }
}

function decide(scope: Scope, part: Part, body: Body | undefined): Decision {
  const decideVerb = part.decider.decide[part.command.verb]
  assert(decideVerb, `${part.decider.table} knows the verb ${part.command.verb}`)
  const decided: readonly Fact[] | Decision = decideVerb(body, part.command, scope.engine.lane.storeTime())
  return 'facts' in decided ? decided : { facts: decided }
}

// Reads the data back from the payload, so that `evolve` sees live exactly what a replay will show it.
const happened = (draft: EventDraft): Happened => ({ ...draft, data: JSON.parse(draft.payload) as Body })
