// Every promise of the backend port, on PostgreSQL as a server and inside the process.

import { keepsItsPromises } from './promises.ts'
import { engines, onServers } from './support.ts'

for (const engine of engines.filter(({ name }) => onServers.includes(name))) keepsItsPromises(engine)
