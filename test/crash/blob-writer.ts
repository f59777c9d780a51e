// A program that puts blobs until it is killed: `b n` before blob n is put, `a n` once it was acknowledged. The controls are `lie`, which
// says so without putting anything, and `in place`, which writes half of a blob under its name and waits to be killed. With `collect`, an
// event refers to every blob, garbage is put beside them, and collections without grace run meanwhile.

import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { open } from '../../src/index.ts'
import { blobOf } from './blob-of.ts'

const [path = '', layout = 'single', first = '0', mode = 'honest'] = process.argv.slice(2)

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

const store = await open({ url: path, layout: layout as 'single' | 'tenant', logger: false })
let next = Number(first)

function putInPlace(bytes: Uint8Array): void {
  const digest = createHash('sha256').update(bytes).digest('hex')
  const folder = join(`${path}.blobs`, 'tenant-main.blobs', digest.slice(0, 2))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, digest), bytes.subarray(0, bytes.length >> 1))
}

async function putAndRefer(n: number): Promise<void> {
  const session = await store.session('s')
  for (;;) {
    await store.blobs.put(blobOf(n + 1_000_000))
    const blob = await store.blobs.put(blobOf(n))
    try {
      await session.append('note.made', { n }, { refs: [blob] })
      return
    } catch (error) {
      // A collection without grace was faster.
      if ((error as { code?: string }).code !== 'BLOB_UNKNOWN') throw error
    }
  }
}

async function collect(): Promise<void> {
  for (;;) await store.collect({ grace: 0 })
}

async function put(n: number): Promise<void> {
  say(`b ${n}`)
  if (mode === 'in place') putInPlace(blobOf(n))
  if (mode === 'honest') await store.blobs.put(blobOf(n))
  if (mode === 'collect') await putAndRefer(n)
  if (mode !== 'in place') say(`a ${n}`)
  // Nothing follows in a control: it has done its harm.
  if (mode !== 'honest' && mode !== 'collect') {
    say('ready')
    await new Promise((resolve) => setTimeout(resolve, 60_000))
  }
}

if (mode === 'honest' || mode === 'collect') {
  await put(next++)
  say('ready')
}
if (mode === 'collect') void collect()
await Promise.all(
  Array.from({ length: mode === 'honest' || mode === 'collect' ? 6 : 1 }, async () => {
    for (;;) await put(next++)
  }),
)
