// A question to a person that a run waits for. It is written in one commit with the beginning of the wait, and answered from anywhere.

import type { ApprovalId, ApprovalState } from '../../../model/approval.ts'
import type { Json } from '../../../model/data.ts'
import { checkValue, store } from '../../content/json-or-blob.ts'
import { takeName } from '../../naming/names.ts'
import { NOT_THERE, part } from '../../writing/part.ts'
import { type BranchHandle, ms } from '../runs/program/branch.ts'
import type { Within } from '../runs/program/branch-calls.ts'
import { type WaitSpec, waitFor } from '../runs/program/wait.ts'
import { type Asking, approval } from './approval-decider.ts'
import { answered, checkAsked } from './approvals.ts'
import { type AskOptions, takeAsking } from './asking.ts'
import { clockParts } from './clock.ts'
import { withPermit } from './permits.ts'

export interface Answer {
  readonly state: ApprovalState
  readonly by?: string
  readonly value?: Json
  readonly digest?: string
}

export async function question(
  branch: BranchHandle,
  kind: 'ask' | 'approval',
  subject: string,
  data: unknown,
  { within, ...options }: Within & AskOptions,
): Promise<Answer> {
  const { open } = branch
  const { scope, row, id: run, about } = open
  const name = takeName(scope, subject, 'a question')
  const limit = ms(within)
  const of = { ...about, of: `the question '${name}'` }
  const admitted = checkValue(scope, data, of)
  const taken = takeAsking(scope, name, admitted, options)
  const entry = await branch.asks(kind, name, async (asked, before) => {
    const on = (before?.wait?.on ?? scope.engine.newId<'approval'>()) as ApprovalId
    const check: WaitSpec['check'] = (wait, late) => answered(open, wait.on as ApprovalId, late, taken.digest)
    const wait = (more: Partial<WaitSpec>) => waitFor(open, asked, before, { kind, ms: limit, on, check, ...more }, branch.leaving)
    if (before) return wait({})
    const { value, blob, holds, told } = await store(scope, admitted, of)
    const asking: Asking = {
      kind,
      ...taken,
      run,
      session: row.session,
      ...(blob ? { blob, ...(holds && { holds }), ...(told && { told }) } : value !== undefined && { data: value }),
    }
    return withPermit(scope, asking, (standing) => {
      const begins = (until: number | undefined) => {
        const full = until === undefined ? asking : { ...asking, expires: until }
        const request = { verb: 'request', asking: full, decided: standing?.decided } as const
        return [
          part(approval, on, request, { session: row.session, run, seen: NOT_THERE }),
          ...(standing ? [] : clockParts(scope, on, full)),
        ]
      }
      return wait({ begins, ...(standing && { guards: [standing.guard] }) })
    })
  })
  const answer = entry.outcome as unknown as Answer
  // Under replay the recorded decision is the answer.
  checkAsked(open, name, answer.digest, taken.digest)
  return answer
}
