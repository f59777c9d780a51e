// Recovery of DBOS, as its documentation describes it: a workflow that did not end is found at launch and executed again, and its recorded steps
// answer from the database.

import { result } from './result.ts'

interface Dbos {
  setConfig(config: { readonly name: string; readonly systemDatabaseUrl: string; readonly logLevel: string }): void
  registerWorkflow(work: (steps: number) => Promise<number>, options: { readonly name: string }): (steps: number) => Promise<number>
  startWorkflow(work: (steps: number) => Promise<number>): (steps: number) => Promise<unknown>
  runStep<T>(work: () => Promise<T>, options: { readonly name: string }): Promise<T>
  launch(): Promise<void>
  shutdown(): Promise<void>
}

export interface DbosRecovery {
  /** Records so many steps of a workflow in this database, and leaves it before its next one. */
  record(url: string, steps: number): Promise<void>
  /** Milliseconds from launch until the workflow of this database comes to the step after the recorded ones. */
  recover(url: string): Promise<number>
}

const PATIENCE_MS = 900_000

/** Once a process: it is a singleton. A launch recovers every workflow of its database, so each workflow has one of its own. */
export async function dbosRecovery(): Promise<DbosRecovery> {
  // A name the compiler does not follow: types are checked without the peers too.
  const name: string = '@dbos-inc/dbos-sdk'
  const { DBOS } = (await import(name)) as { readonly DBOS: Dbos }
  let arrived = Promise.withResolvers<void>()
  const workflow = DBOS.registerWorkflow(
    async (count) => {
      for (let i = 0; i < count; i++) await DBOS.runStep(async () => result(i), { name: 'call model' })
      arrived.resolve()
      return new Promise<number>(() => {})
    },
    { name: 'resume' },
  )
  /** Launches, waits until the workflow has arrived, and shuts down again, so that nothing polls while others are measured. */
  const arrive = async (url: string, start?: () => Promise<unknown>): Promise<number> => {
    DBOS.setConfig({ name: 'resume', systemDatabaseUrl: url, logLevel: 'error' })
    arrived = Promise.withResolvers()
    const late = setTimeout(() => arrived.reject(new Error('the workflow of DBOS did not arrive')), PATIENCE_MS)
    try {
      const began = performance.now()
      await DBOS.launch()
      await start?.()
      await arrived.promise
      return performance.now() - began
    } finally {
      clearTimeout(late)
      await DBOS.shutdown()
    }
  }
  return {
    record: async (url, steps) => void (await arrive(url, () => DBOS.startWorkflow(workflow)(steps))),
    recover: (url) => arrive(url),
  }
}
