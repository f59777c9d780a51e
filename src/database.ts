// Inspection of a store on a PostgreSQL server before it is opened.

export { type Finding, type InspectOptions, inspectDatabase } from './backends/postgres/inspect.ts'
export { placeOf } from './backends/postgres/pool.ts'
export { isDatabase, pathOf } from './open.ts'
