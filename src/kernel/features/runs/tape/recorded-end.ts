// The end of a run under strict replay: it is compared with the recorded end, and nothing is written.

import { canonical } from '../../../../model/canonical.ts'
import type { Json } from '../../../../model/data.ts'
import { refuse } from '../../../../model/errors.ts'
import { isOver, type RunRow } from '../../../../model/run.ts'
import { checkValue, load } from '../../../content/json-or-blob.ts'
import type { RunEnding } from '../writing/ending.ts'
import type { RunWriter } from '../writing/run-writer.ts'

/** Refuses an end that the tape does not have. Of a failure, only the fact is compared. */
export async function checkRecordedEnd(open: RunWriter, how: RunEnding, result?: unknown): Promise<void> {
  open.checkLive()
  await open.replay.checkDone()
  const { row } = open
  if (!isOver(row.state)) throw refuse('REPLAY_MISSING', { run: open.id, call: 'the end of the run' })
  if (row.state !== how) throw open.diverged(`- recorded: the run is ${row.state}\n+ asked for: the run is ${how}`)
  if (how === 'done' && !(await isSameResult(open, row, result)))
    throw open.diverged('- recorded: the result of the run\n+ asked for: another result')
}

/** A result that was erased is not compared. */
async function isSameResult({ scope, about }: RunWriter, { result: recorded }: RunRow, result: unknown): Promise<boolean> {
  if (recorded === undefined) return true
  const masked = checkValue(scope, result, { ...about, of: 'the program' })
  const before = (await load(scope, recorded)) as Json | undefined
  return masked === undefined || before === undefined ? masked === before : canonical(masked) === canonical(before)
}
