// Every promise of the backend port on PostgreSQL as a server. Inside the process it is the same SQL on another driver, which is for long runs.

import { keepsItsPromises } from './promises.ts'
import { engines, onServers } from './support.ts'

for (const engine of engines.filter(({ name }) => onServers.includes(name))) keepsItsPromises(engine)
