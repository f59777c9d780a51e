// Inspection of a store on a PostgreSQL server before it is opened.

import type { Finding, InspectOptions } from './backends/postgres/inspect.ts'

export { placeOf } from './backends/postgres/place.ts'
export { isDatabase, pathOf } from './open.ts'
export type { Finding, InspectOptions }

// Commands on files load this too, and need no driver.
export const inspectDatabase = async (options: InspectOptions): Promise<readonly Finding[]> =>
  (await import('./backends/postgres/inspect.ts')).inspectDatabase(options)
