// The conformance suite of the backend port: everything a backend must do for a store. Two backends that pass it are interchangeable.
//
// It works with any test runner. Define how to open a new, empty store, then run every case:
//
//   import { cases, randomWalk, runCase } from 'inkfast/conformance'
//
//   const open = async ({ now } = {}) => {
//     const place = await makeEmptyPlace()
//     return {
//       backend: await myBackend(place, { now }),
//       second: () => myBackend(place, { now }),            // where several handles may share a store
//       reopen: () => closeAllThenOpen(place, { now }),     // where a store outlives its handles
//       dispose: () => place.remove(),
//     }
//   }
//   for (const one of cases) {
//     const result = await runCase(one, open)               // passed, skipped with a reason, or failed with a Violation
//     if (result.status === 'failed') throw result.error
//   }
//   await randomWalk({ seed: 1, steps: 100, open })         // against the oracle; throws with seed, step and first difference
//
// `faults` wrap a backend to fail on purpose.

export {
  type Case,
  type Need,
  type OpenBackend,
  type OpenedBackend,
  type OpenOptions,
  type Result,
  runCase,
  Skipped,
  Violation,
} from './case.ts'
export { cases } from './cases/index.ts'
export * as faults from './faults.ts'
export { openMemory, openSharedMemory } from './shared-memory.ts'
export { randomWalk, type Walk, type WalkOptions } from './walk.ts'
