// Strict replay: the tape answers the calls of a program. Nothing is executed or written, and no lease is taken.

import type { RunRow } from '../../../../model/run.ts'
import { load } from '../../../content/json-or-blob.ts'
import { leaseId } from '../../../naming/names.ts'
import type { Scope } from '../../../wiring/scope.ts'
import type { OwnLease } from '../../leases/keeper.ts'
import { checkKnownRun } from '../find-run.ts'
import type { Run } from '../program/run-calls.ts'
import { Underway } from '../program/shared-calls.ts'
import { RunInHand } from '../run.ts'
import { RunWriter } from '../writing/run-writer.ts'
import { pastOf } from './tape-reader.ts'

export async function replayStrictly(scope: Scope, row: RunRow): Promise<Run> {
  checkKnownRun(row)
  const [input, result, past] = await Promise.all([load(scope, row.input), load(scope, row.result), pastOf(scope, row)])
  const opened = { row, revision: 0, hold: noHold(scope, row), underway: new Underway(), shared: () => false, strict: true }
  return new RunInHand(scope, new RunWriter(scope, { ...opened, ...past }), input, result)
}

/** No row has this fence, so the backend would refuse a write under it. */
const NEVER = -1

function noHold(scope: Scope, { id: run, session, parallel }: RunRow): OwnLease {
  const id = leaseId(scope, session, run, parallel)
  const guard = { kind: 'fence', table: 'leases', id, fence: NEVER } as const
  return { tenant: scope.tenant, id, fence: 0, guard, signal: new AbortController().signal }
}
