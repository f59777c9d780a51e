// A process that holds a run until it is killed: holder-child.ts <url> <name> <program | node>, by fork. It says so once it has it.

import { open, type Run } from '../../src/index.ts'
import { effect } from './ours.ts'

export type Holder = 'program' | 'node'

const [url, name, as] = [process.argv[2] as string, process.argv[3] as string, process.argv[4] as Holder]
// It lives as long as whoever started it, and not longer.
process.once('disconnect', () => process.exit())
const store = await open(url)
const hold = async (run: Run): Promise<void> => {
  await effect(run, 0)
  process.send?.('held')
  await new Promise(() => {})
}
if (as === 'node') store.work({ [name]: hold })
else await hold(await (await store.session(name)).run(name))
