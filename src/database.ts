// Stores on a server, for those who look one over before they open it.

export { type Finding, type InspectOptions, inspectDatabase } from './backends/postgres/inspect.ts'
export { placeOf } from './backends/postgres/pool.ts'
export { checkPath, isDatabase } from './open.ts'
