// Rows of a backend whose every read by key goes through one function, also where several are read together.

import type { Backend } from '../../src/ports/backend.ts'

export const rowsBy = (rows: Backend['rows'], get: Backend['rows']['get']): Backend['rows'] => ({
  ...rows,
  get,
  getMany: (tenant, keys) => Promise.all(keys.map(({ table, id }) => get(tenant, table, id))),
})
