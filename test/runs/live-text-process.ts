// A process that streams answers, each as an effect and as a message of its own session, and then waits to be killed. Control: `hurried` dies
// by its own hand before its text is recorded.

import { writeSync } from 'node:fs'
import { open } from '../../src/index.ts'
import { LANGUAGES } from '../redact/languages.ts'

const [url = '', how = ''] = process.argv.slice(2)
const PIECE = 7

const store = await open({ url, logger: false })
const pieces = (text: string): readonly string[] => text.match(new RegExp(`.{1,${PIECE}}`, 'gs')) ?? []

await Promise.all(
  LANGUAGES.map(async ({ name, text }) => {
    const session = await store.session(name)
    const run = await session.run('answer')
    const stream = session.thread.stream('answer')
    await stream.write({ type: 'text-start', id: '0' })
    // Nobody waits for the end of the effect.
    void run.effect('call model', async ({ stream: show }) => {
      for (const piece of pieces(text)) show(piece)
      await new Promise(() => {})
    })
    for (const delta of pieces(text)) await stream.write({ type: 'text-delta', id: '0', delta })
  }),
)
writeSync(1, 'streamed\n')
if (how === 'hurried') process.kill(process.pid, 'SIGKILL')
setInterval(() => {}, 1000)
