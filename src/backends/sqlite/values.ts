// Nodes of values in their table.

import type { Values } from '../../ports/values.ts'
import type { Database } from './database.ts'
import { ifActive } from './heads.ts'
import { reading } from './transaction.ts'

const getNode = 'select body from nodes where tenant = ? and ref = ?'

export const values = (db: Database): Values => ({
  get: (tenant, refs) =>
    reading(db, () => ifActive(db, tenant, () => refs.map((ref) => db.get(getNode, tenant, ref)?.body as Uint8Array | undefined))),
})
