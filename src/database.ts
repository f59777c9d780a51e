// Stores on a server, for those who look one over before they open it.

export { type Finding, type InspectOptions, inspectDatabase } from './backends/postgres/inspect.ts'
export { placeOf } from './backends/postgres/pool.ts'

/** Whether a store lives on a server, and not in a file. */
export const isDatabase = (url: string): boolean => /^postgres(ql)?:/i.test(url)

export { checkPath } from './open.ts'
