// A program that patches a canvas and compacts it until it is killed: `a n` once version n was acknowledged. The control `early` says so before it
// writes, and never writes the third version that it announced.

import { writeSync } from 'node:fs'
import { open } from '../../src/index.ts'

const [url = '', mode = 'honest'] = process.argv.slice(2)

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

const store = await open({ url, logger: false, canvas: { updatesPerMinute: Infinity, snapshotEvery: 2 } })
const canvas = (await store.session('s')).canvas('plan')

async function write(version: number): Promise<void> {
  const ops = [
    { op: 'add', path: '/n', value: version },
    { op: 'add', path: `/k${version % 5}`, value: 'x'.repeat(version % 50) },
  ] as const
  await canvas.patch(ops, { expect: version - 1 })
}

const begun = (await canvas.get())?.version ?? 0
say('ready')
await Promise.all([
  (async () => {
    for (let version = begun + 1; ; version++) {
      if (mode === 'early') say(`a ${version}`)
      if (mode === 'early' && version === begun + 3) return
      await write(version)
      if (mode === 'honest') say(`a ${version}`)
    }
  })(),
  (async () => {
    for (;;) await canvas.compact()
  })(),
])
