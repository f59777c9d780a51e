// Lists blobs, writes one to a file, and stores a file as one.

import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { EXIT, type Exit, usage } from '../exit.ts'
import { bytes, time } from '../format.ts'
import { changeStore, tenantView, type WhoOptions, withStore } from '../store.ts'
import { printTable } from '../table.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { jsonLine } from '../text.ts'
import { given, namedWords, onlyStore } from '../words.ts'

export interface BlobsOptions extends WhoOptions {
  readonly last?: number
  readonly cursor?: string
  readonly kind?: string
  readonly pin?: boolean
}

export function listBlobs(t: Terminal, words: readonly string[], { tenant, last, cursor }: BlobsOptions): Promise<Exit> {
  return withStore(onlyStore(words), async (root) => {
    const page = await (await tenantView(root, tenant)).blobs.list(given({ last, cursor }))
    if (t.json) t.out(jsonLine(page))
    else if (page.items.length === 0) t.note('There is no blob.')
    else
      printTable(
        t,
        [
          { title: 'bytes', right: true },
          { title: 'stored', right: true, style: 'dim' },
          { title: 'put or named (UTC)', style: 'dim' },
          { title: 'state', optional: true },
          { title: 'digest', style: 'bold' },
        ],
        page.items.map((blob) => [
          bytes(blob.bytes),
          bytes(blob.stored),
          time(blob.at),
          blob.state === 'present' ? '' : blob.state,
          blob.digest,
        ]),
      )
    if (!t.json && page.cursor !== undefined) t.note(`More: add --cursor ${page.cursor}`)
    return EXIT.fine
  })
}

export function getBlob(t: Terminal, words: readonly string[], { tenant }: BlobsOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { digest: 'inkfast blobs list', file: '' })
  const [digest, file] = names as readonly [string, string]
  return withStore(url, async (root) => {
    const store = await tenantView(root, tenant)
    // The first byte is read first: an unknown blob leaves no empty file.
    await store.blobs.get(digest, { to: 1 })
    const target = createWriteStream(file, { flags: 'wx' })
    let made = false
    target.on('open', () => {
      made = true
    })
    try {
      await pipeline(Readable.from(store.blobs.stream(digest)), target, { signal: t.signal })
    } catch (error) {
      if (made) await rm(file, { force: true })
      throw fileProblem(file, error)
    }
    if (t.json) t.out(jsonLine({ digest, file, bytes: target.bytesWritten }))
    else t.out(verdict(t, 'ok', `${bytes(target.bytesWritten)} written to ${file}`))
    return EXIT.fine
  })
}

export function putBlob(t: Terminal, words: readonly string[], options: BlobsOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { file: '' })
  const file = names[0] as string
  return changeStore(url, options, async (store) => {
    let blob: Awaited<ReturnType<typeof store.blobs.put>>
    try {
      blob = await store.blobs.put(createReadStream(file), given({ kind: options.kind }))
    } catch (error) {
      throw fileProblem(file, error)
    }
    if (options.pin) await store.pin(blob)
    if (t.json) t.out(jsonLine({ ...blob, pinned: options.pin ?? false }))
    else {
      t.out(blob.digest)
      t.note(options.pin ? 'It is pinned.' : 'Nothing refers to it yet: garbage collection may delete it after a day. Keep it with --pin.')
    }
  })
}

/** Tells other mistakes from a missing file and missing rights, which have an exit code of their own. */
const fileProblem = (file: string, error: unknown): unknown => {
  const { code = '', syscall } = error as NodeJS.ErrnoException
  if (['ENOENT', 'EACCES', 'EPERM'].includes(code)) return error
  return syscall === 'open' || code === 'EISDIR' ? usage(`The file ${file} cannot be opened (${code}).`) : error
}
