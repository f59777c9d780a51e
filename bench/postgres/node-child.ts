// One of several processes that append to the same database, whenever it is told to: node-child.ts <url> <number> <callers>, by fork.

import { open } from '../../src/index.ts'
import { payload, TYPE } from '../journal/payload.ts'
import { rate } from '../lib/rounds.ts'
import { callerSessions } from './sessions.ts'

export interface Order {
  /** The tenant all processes write to, or the one of this process alone. */
  readonly tenant: 'shared' | 'own'
  readonly ms: number
}

export interface Report {
  readonly perSecond: number
}

const [url, number, callers] = [process.argv[2] as string, process.argv[3] as string, Number(process.argv[4])]
const say = (report: Report): void => void process.send?.(report)

const store = await open(url)
const sessions = {
  shared: await callerSessions(store.tenant('shared'), callers, `node-${number}`),
  own: await callerSessions(store.tenant(`own-${number}`), callers),
}
let i = 0
let working: Promise<void> = Promise.resolve()
process.on('message', ({ tenant, ms }: Order) => {
  working = rate(callers, ms, (caller) => sessions[tenant](caller).append(TYPE, payload(i++))).then((perSecond) => say({ perSecond }))
})
process.once('disconnect', async () => {
  await working
  await store.close()
})
say({ perSecond: 0 })
