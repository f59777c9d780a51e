// Settles the inputs and inbox items of a run, in the commit that ends the run.

import type { InboxItemId } from '../../../model/inbox.ts'
import type { InputId, InputState } from '../../../model/input.ts'
import { limits } from '../../../model/limits.ts'
import type { RunRow } from '../../../model/run.ts'
import { everyRow } from '../../reading/every-row.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type Part, part } from '../../writing/execute.ts'
import type { RunEnding } from '../runs/writing/ending.ts'
import { inbox } from './inbox-decider.ts'
import { input } from './input-decider.ts'

/** Reads nothing for a run that got no input. */
export async function settleParts(scope: Scope, row: RunRow, how: RunEnding): Promise<readonly Part[]> {
  return [...(row.prompted ? await inputParts(scope, row, how) : []), ...inboxParts(row, how)]
}

async function inputParts(scope: Scope, { id: run, session }: RunRow, how: RunEnding): Promise<readonly Part[]> {
  const pending = await tiedTo(scope, run, 'pending')
  // Accepted inputs are read second: an input that moved from pending to accepted in between is in both lists, and settled once.
  const ids = new Set([...pending, ...(await tiedTo(scope, run, 'accepted'))])
  return [...ids].map((id) => part(input, id, { verb: 'end', run, how }, { session, run }))
}

async function tiedTo(scope: Scope, run: string, state: InputState): Promise<readonly InputId[]> {
  const ids: InputId[] = []
  for await (const { id } of everyRow(scope, 'inputs', { index: 'byRun', equals: [run, state], limit: limits.listRows }))
    ids.push(id as InputId)
  return ids
}

function inboxParts({ id: run, session, claims = [] }: RunRow, how: RunEnding): readonly Part[] {
  const about = { session, run }
  return claims.flatMap(({ id: claim, batches }) =>
    batches.map((id: InboxItemId) => part(inbox, id, { verb: how === 'done' ? 'complete' : 'release', id, claim, run }, about)),
  )
}
