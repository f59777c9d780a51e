// A program that grows lists as values and collects garbage until it is killed: `a n ref` once list n was acknowledged with its reference.
// The control `blind` says so without referring to it: a ref in data would be declared by itself.

import { writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { open } from '../../src/index.ts'

const [path = '', first = '0', mode = 'honest'] = process.argv.slice(2)

/** The pipe may be full while its reader is busy: what is said is said before anything else happens. */
function say(line: string): void {
  const bytes = Buffer.from(`${line}\n`)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
  }
}

const itemOf = (list: number, i: number) => ({ role: 'user', content: `${list}/${i} ${'lorem ipsum '.repeat(5 + ((list * 7 + i) % 30))}` })

const isCollected = (error: unknown): boolean =>
  ['VALUE_MISSING', 'COLLECTION_REPLACED'].includes(String((error as { code?: string }).code))

const store = await open({ url: path, logger: false })
const session = await store.session('lists')
let next = Number(first)

async function grow(list: number): Promise<void> {
  let ref = await store.values.put([])
  for (let i = 0; i < 8; i++) ref = await store.values.append(ref, [itemOf(list, i)])
  if (mode === 'honest') await session.append('list.grown', { list, ref }, { refs: [ref] })
  else await session.append('list.grown', { list, letters: ref.length })
  say(`a ${list} ${ref}`)
}

say('ready')
await Promise.all([
  ...Array.from({ length: 3 }, async () => {
    for (;;) await grow(next++).catch((error) => (isCollected(error) ? undefined : Promise.reject(error)))
  }),
  (async () => {
    for (;;) {
      await store.collect({ grace: 0 }).catch((error) => (isCollected(error) ? undefined : Promise.reject(error)))
      // Lists that are being grown refer to nothing yet. A collection without end would delete all of them.
      await wait(30)
    }
  })(),
])
