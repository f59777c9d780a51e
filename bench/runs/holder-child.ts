// A process that holds runs until it is killed: holder-child.ts <url> <round>, by fork. It says so once it holds all of them.

import { open, type Run } from '../../src/index.ts'
import { effect } from './ours.ts'
import { names } from './takeover-names.ts'

const [url, round] = [process.argv[2] as string, Number(process.argv[3])]
const { asked, awaited, offered } = names(round)

const store = await open(url)
const hold = async (name: string): Promise<void> => {
  await effect(await (await store.session(name)).run(name), 0)
}
const taken = Promise.withResolvers<void>()
store.work({
  [offered]: async (run: Run) => {
    await effect(run, 0)
    taken.resolve()
    await new Promise(() => {})
  },
})
await Promise.all([hold(asked), hold(awaited), taken.promise])
process.send?.('held')
