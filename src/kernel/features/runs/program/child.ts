// A child run: started by another run in the same session, with a lease of its own. A node with a handler takes it up.

import type { RunId } from '../../../../model/ids.ts'
import { ownMembers } from '../../../../model/options.ts'
import { isOver } from '../../../../model/run.ts'
import { checkValue, load, type StoredValue } from '../../../content/json-or-blob.ts'
import { fitted } from '../../../wiring/schema.ts'
import { offerRun } from '../node/start.ts'
import type { TakenProgram } from '../program.ts'
import { failureOf, readRun } from '../result.ts'
import type { Entry } from '../tape/tape.ts'
import type { BranchHandle } from './branch.ts'
import type { Asked } from './call.ts'
import { ChildResult } from './child-result.ts'
import { type EffectOptions, effectError, runEffect } from './effect.ts'
import { waitFor } from './wait.ts'

export interface Child<Result = unknown> {
  readonly id: RunId
  /**
   * Waits from the moment it is awaited, in the branch that awaits it; branches may share one promise. Durable: another node may take up the
   * parent meanwhile. RUN_FAILED or RUN_CANCELLED where the child has none.
   */
  result<T extends Result = Result>(): Promise<T>
}

const NO_OPTIONS = ownMembers<EffectOptions>({})

export async function childOf(parent: BranchHandle, { name, shape }: TakenProgram, given: unknown): Promise<Child> {
  const { open } = parent
  let input = given
  const check = () => void checkValue(open.scope, input, { ...open.about, of: `the input of '${name}'` })
  // An invalid input is refused before it counts as a call, so that replay does not wait for it.
  if (!shape) check()
  // A child that is on the tape was started with a checked input.
  const begins =
    shape &&
    (async () => {
      input = await fitted(open.scope, shape, given, `input of '${name}'`)
      check()
    })
  const live = (asked: Asked, before: Entry | undefined) => {
    const start = async ({ key }: { readonly key: string }) => {
      const { id } = await offerRun(open.scope, {
        session: open.row.session,
        name,
        key: `child/${key}`,
        input,
        parallel: true,
        parent: open.id,
      })
      return { run: id }
    }
    return runEffect(open, asked, before, start, NO_OPTIONS, parent.leaving)
  }
  const started = await parent.asks('start', name, live, { begins })
  if (started.error) throw effectError(name, { run: open.id }, started.error, started.attempts ?? 1)
  const ended = open.calls.begins(`the result of child '${name}'`, parent.place)
  const { run: id } = (await load(open.scope, started.value)) as { readonly run: RunId }
  return {
    id,
    result: <T>() =>
      new ChildResult(
        () => parent.here().path,
        () => resultIn<T>(parent.here(), name, id, ended),
      ),
  }
}

async function resultIn<T>(branch: BranchHandle, name: string, id: RunId, ended: () => void): Promise<T> {
  const { scope } = branch.open
  const check = async () => {
    const row = await readRun(scope, id)
    if (!row || !isOver(row.state)) return undefined
    return { outcome: { state: row.state, ...(row.result && { value: row.result }), ...(row.error && { error: row.error }) } }
  }
  const { outcome = {} } = await branch.asks('child', name, (asked, before) =>
    waitFor(branch.open, asked, before, { kind: 'child', on: id, check }, branch.leaving),
  )
  ended()
  const { state, value, error } = outcome as unknown as StoredValue
  if (state !== 'done') throw failureOf({ id, name, state, error })
  return (await load(scope, value)) as T
}
