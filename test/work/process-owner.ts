// A program that runs processes until it is killed. It registers one that is bound to its owner and one that may be run again, says so once both
// have begun, and ends neither.

import { writeSync } from 'node:fs'
import { open } from '../../src/index.ts'

const [url = ''] = process.argv.slice(2)
const store = await open({ url, logger: false })
const begun: string[] = []
const handler = async ({ name, fence }: { readonly name: string; readonly fence: number }): Promise<never> => {
  begun.push(name)
  if (begun.length === 2) writeSync(1, `${JSON.stringify(['ready', fence])}\n`)
  return new Promise<never>(() => {})
}
store.processes.work({ tool: handler })
await store.processes.register('bound', { kind: 'tool', recovery: 'ownerBound' })
await store.processes.register('free', { kind: 'tool', recovery: 'rerunnable' })
