// A program that writes until it is killed. Every line goes out before the next thing happens: `b n` before append n is called, `a n seq
// hash` once it was acknowledged. With `lie` it says so before the store did: that is the control the judge must catch.

import { writeSync } from 'node:fs'
import { open } from '../../src/index.ts'

const [path = '', first = '0', again = '', mode = 'honest'] = process.argv.slice(2)

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

const store = await open({ url: path, logger: false })
const sessions = await Promise.all(Array.from({ length: 6 }, (_, i) => store.session(`crash/${i}`)))
const retries = again === '' ? [] : again.split(',').map(Number)
let next = Number(first)

async function write(n: number): Promise<void> {
  const session = sessions[n % sessions.length] as (typeof sessions)[0]
  say(`b ${n}`)
  if (mode === 'lie') say(`a ${n} 0 -`)
  if (n % 17 === 0) await session.rename(`title ${n}`)
  const { seq, hash } = await session.append('task.done', { n, text: 'x'.repeat(n % 700) }, { key: `n-${n}` })
  if (mode !== 'lie') say(`a ${n} ${seq} ${hash}`)
}

say('ready')
await Promise.all(
  Array.from({ length: 8 }, async () => {
    for (;;) await write(retries.pop() ?? next++)
  }),
)
