// A program that listens until it is told to stop, or killed: every input it hears and every batch it claims adds a line to its outbox, within an
// effect, and that is on the disk before the effect comes back. With `bare` it does so outside of any effect: the control.

import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { open } from '../../src/index.ts'

const [url = '', file = '', how = ''] = process.argv.slice(2)

function note(line: string): void {
  const outbox = openSync(file, 'a')
  writeSync(outbox, `${line}\n`)
  fsyncSync(outbox)
  closeSync(outbox)
}

const store = await open({ url, logger: false })
const session = await store.session('s')
const run = await session.run('turn', { wait: '20s' })
writeSync(1, 'ready\n')

let stop = run.state === 'done'
while (!stop) {
  const inputs = await run.inputs()
  const { claim, batches } = await run.inbox({ at: 'boundary' })
  for (const what of [...inputs.map(({ content }) => `input ${content}`), ...batches.map(({ payload }) => `batch ${payload}`)]) {
    if (how === 'bare') note(what)
    else await run.effect(what, () => note(what))
    stop ||= what === 'input stop'
  }
  if (claim) await run.inboxDone(claim)
  if (stop) await run.finish()
  else if (inputs.length === 0 && !claim) await run.sleep(10)
}
await store.close()
