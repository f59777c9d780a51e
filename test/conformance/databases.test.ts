// Every promise of the backend port on PostgreSQL as a server. Inside the process it is the same SQL on another driver: there a share of them will do.

import { keepsItsPromises } from './promises.ts'
import { engines, onServers } from './support.ts'

const SHARE = 5

for (const engine of engines.filter(({ name }) => onServers.includes(name)))
  keepsItsPromises(engine, { every: engine.name === 'pglite' ? SHARE : 1 })
