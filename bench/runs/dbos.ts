// DBOS, as its documentation uses it: a system database, a registered workflow, its steps one after the other.

import { query } from '../../test/support/postgres-database.ts'
import { result } from './result.ts'
import { turn } from './turn.ts'

interface Dbos {
  setConfig(config: { readonly name: string; readonly systemDatabaseUrl: string; readonly logLevel: string }): void
  registerWorkflow(work: (steps: number) => Promise<number>, options: { readonly name: string }): (steps: number) => Promise<number>
  runStep<T>(work: () => Promise<T>, options: { readonly name: string }): Promise<T>
  launch(): Promise<void>
  shutdown(): Promise<void>
}

export interface DbosRuns extends AsyncDisposable {
  /** So many workflows at once, from starting to their results, each with so many steps: steps a second. */
  perSecond(workflows: number, steps: number): Promise<number>
  /** The same without steps, so many one after the other: workflows a second. */
  emptyPerSecond(callers: number, each: number): Promise<number>
  recordedSteps(): Promise<number>
  readonly settings: string
}

/** Once a process: it is a singleton, and a workflow is registered before it is launched. */
export async function openDbos(url: string): Promise<DbosRuns> {
  // A name the compiler does not follow: types are checked without the peers too.
  const name: string = '@dbos-inc/dbos-sdk'
  const { DBOS } = (await import(name)) as { readonly DBOS: Dbos }
  // Below errors it writes a line to the terminal for every launch and shutdown; nothing of that is in a turn.
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error' })
  const workflow = DBOS.registerWorkflow(
    async (steps) => {
      for (let i = 0; i < steps; i++) await DBOS.runStep(async () => result(i), { name: 'call model' })
      return steps
    },
    { name: 'bench' },
  )
  await DBOS.launch()
  return {
    perSecond: (workflows, steps) => turn(workflows, steps, () => workflow(steps)),
    emptyPerSecond: (callers, each) =>
      turn(callers, each, async () => {
        for (let i = 0; i < each; i++) await workflow(0)
      }),
    recordedSteps: async () => {
      const [found] = await query(url, 'select count(*)::integer as n from dbos.operation_outputs')
      return (found as { readonly n: number }).n
    },
    // Measured with pools of 10, 20, 40 and 64 connections: 64 workflows at once were as fast with each, within what a busy machine does
    // to a number.
    settings: 'setConfig with a system database of its own and its defaults (a pool of 10 connections of pg), steps by DBOS.runStep',
    [Symbol.asyncDispose]: () => DBOS.shutdown(),
  }
}
