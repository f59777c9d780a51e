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

const PATIENCE_MS = 300_000

/** Milliseconds from launch until a recovered workflow of so many recorded steps comes to its next one. */
export async function dbosRecovery(url: string, steps: number, rounds: number): Promise<readonly number[]> {
  // A name the compiler does not follow: types are checked without the peers too.
  const name: string = '@dbos-inc/dbos-sdk'
  const { DBOS } = (await import(name)) as { readonly DBOS: Dbos }
  DBOS.setConfig({ name: 'resume', systemDatabaseUrl: url, logLevel: 'error' })
  let arrived = Promise.withResolvers<void>()
  const workflow = DBOS.registerWorkflow(
    async (count) => {
      for (let i = 0; i < count; i++) await DBOS.runStep(async () => result(i), { name: 'call model' })
      arrived.resolve()
      return new Promise<number>(() => {})
    },
    { name: `resume ${steps}` },
  )
  await DBOS.launch()
  await DBOS.startWorkflow(workflow)(steps)
  await arrived.promise
  const times: number[] = []
  for (let round = 0; round <= rounds; round++) {
    await DBOS.shutdown()
    arrived = Promise.withResolvers<void>()
    const start = performance.now()
    await DBOS.launch()
    const late = setTimeout(() => arrived.reject(new Error('DBOS recovered nothing')), PATIENCE_MS)
    await arrived.promise
    clearTimeout(late)
    // The first one warms up.
    if (round > 0) times.push(performance.now() - start)
  }
  await DBOS.shutdown()
  return times
}
