// A question to a person that holds a run: written down together with the beginning of the wait, answered from anywhere.

import type { ApprovalState } from '../../model/approval.ts'
import type { Json } from '../../model/data.ts'
import type { Id } from '../../model/ids.ts'
import type { Duration } from '../../model/time.ts'
import { part } from '../execute.ts'
import { approval } from './approval-decider.ts'
import { answered } from './approvals.ts'
import { type BranchHandle, ms } from './branch.ts'
import { takeName } from './names.ts'
import { checkValue, store } from './stored.ts'
import { waitFor } from './wait.ts'

export interface Answer {
  readonly state: ApprovalState
  readonly by?: string
  readonly value?: Json
}

export async function question(
  branch: BranchHandle,
  kind: 'ask' | 'approval',
  subject: string,
  data: unknown,
  within: Duration | undefined,
): Promise<Answer> {
  const { open } = branch
  const { scope, row, id: run, about } = open
  const name = takeName(scope, subject, 'a question')
  const limit = ms(within)
  checkValue(scope, data, { ...about, of: `the question '${name}'` })
  const entry = await branch.asks(kind, name, async (asked, before) => {
    const on = before?.wait?.on ?? scope.engine.newId<'approval'>()
    const given = await store(scope, data, { ...about, of: `the question '${name}'` })
    return waitFor(
      open,
      asked,
      before,
      {
        kind,
        ms: limit,
        on,
        begins: (until) => [
          part(
            approval,
            on as Id,
            {
              verb: 'request',
              kind,
              subject: name,
              run,
              session: row.session,
              ...(given.blob ? { blob: given.blob } : given.value !== undefined && { data: given.value }),
              ...(until !== undefined && { expires: until }),
            },
            { session: row.session, run },
          ),
        ],
        check: (wait, late) => answered(open, wait.on as Id, late),
      },
      branch.leaving,
    )
  })
  return entry.outcome as unknown as Answer
}
