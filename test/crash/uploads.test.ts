// Uploads of processes that were killed go with the next collection. Those of living processes stay, however long they pause.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { MAIN } from '../../src/model/ids.ts'
import { until } from '../postgres/until.ts'
import {
  codeOf,
  engines,
  expectSound,
  later,
  lentBackend,
  lentDatabase,
  moveTime,
  openIn,
  tempDatabase,
  tempFile,
  tempFolder,
} from '../support/engines.ts'
import { programAt } from '../support/programs.ts'

const MIB = 1024 * 1024
const DAY = 24 * 60 * 60 * 1000

interface Uploader {
  readonly child: ChildProcess
  /** The next line that it says. */
  said(): Promise<string>
}

async function startUpload(url: string, layout: string, seed: number): Promise<Uploader> {
  const writer = programAt(new URL('./upload-writer.ts', import.meta.url))
  const child = spawn(process.execPath, [writer, url, layout, String(seed)], { stdio: ['pipe', 'pipe', 'inherit'] })
  later(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  const said = async () => String((await lines.next()).value)
  expect(await said()).toBe('begun')
  return { child, said }
}

async function kill({ child }: Uploader): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

test.each([
  ['one file', 'single', async () => tempFile()],
  ['a folder of tenants', 'tenant', async () => tempFolder()],
  ['a database', 'single', tempDatabase],
] as const)(
  'in %s an upload of a killed process goes with the next collection, and one of a stopped process stays',
  async (_, layout, place) => {
    const url = await place()
    const store = await openIn(url, layout === 'tenant' ? { layout } : {})
    await store.appendAll([{ type: 'a.b', data: 1 }])
    const [killed, stopped] = await Promise.all([startUpload(url, layout, 0), startUpload(url, layout, 100)])
    stopped.child.kill('SIGSTOP')
    // The control: both live.
    expect((await store.collect({ grace: 0 })).deleted.bytes).toBe(0)
    await kill(killed)
    const { deleted, complete } = await store.collect()
    expect({ bytes: deleted.bytes >= 3 * MIB && deleted.bytes < 6 * MIB, complete }).toEqual({ bytes: true, complete: true })
    expect((await store.collect({ grace: 0 })).deleted.bytes).toBe(0)
    stopped.child.kill('SIGCONT')
    stopped.child.stdin?.write('go on\n')
    const digest = await stopped.said()
    expect((await store.blobs.get(digest)).length).toBe(5 * MIB)
    const { deleted: all } = await store.collect({ grace: 0 })
    expect(all).toMatchObject({ blobs: 1, bytes: 5 * MIB })
    if (store.name === 'sqlite') expect((await store.measure()).bytes.blobs).toBe(0)
    await expectSound(store)
  },
)

test.each(engines)('an upload that pauses for days survives collections without grace on $name', async ({ openInTime }) => {
  const { store, pass } = await openInTime()
  async function* slow(): AsyncGenerator<Uint8Array> {
    for (let n = 0; n < 4; n++) {
      if (n === 3) {
        await pass(3 * DAY)
        await store.collect({ grace: 0 })
      }
      yield new Uint8Array(MIB).fill(n)
    }
  }
  const blob = await store.blobs.put(slow())
  expect((await store.blobs.get(blob)).length).toBe(4 * MIB)
  expect((await store.collect()).deleted).toMatchObject({ blobs: 0, bytes: 0 })
})

const elsewhere = { host: 'elsewhere pid:[1]', boot: '00000000-0000-0000-0000-000000000000', pid: 1, started: '1' }

test.each([
  ['on another machine', elsewhere],
  ['on a system that does not tell', undefined],
])('an upload of a process %s is given up after a quiet day, and then refused', async (_, mark) => {
  const url = await lentDatabase()
  const store = await openIn(url)
  await store.appendAll([{ type: 'a.b', data: 1 }])
  const piece = new Uint8Array(MIB)
  const writer = await lentBackend(url).blobs.write(MAIN, {}, mark)
  await writer.add(piece, new Uint8Array(32))
  await moveTime(url, DAY / 2)
  expect((await store.collect({ grace: 0 })).deleted.bytes).toBe(0)
  await writer.add(piece, new Uint8Array(32))
  await moveTime(url, DAY - 60_000)
  expect((await store.collect({ grace: 0 })).deleted.bytes).toBe(0)
  await moveTime(url, 120_000)
  expect((await store.collect({ grace: 0 })).deleted.bytes).toBe(2 * MIB)
  // It lives after all: what it adds is no part of a blob, and it is told.
  await writer.add(piece, new Uint8Array(32))
  expect(await codeOf(writer.finish('ab'.repeat(32)))).toBe('BLOB_UNKNOWN')
  expect((await store.collect({ grace: 0 })).deleted.bytes).toBe(0)
})

// A sweep has deleted the note and the pieces, and has not committed yet; or the same without the note.
test.each([
  ['finds that a collection was first, and is refused', 'n >= -1', 'BLOB_UNKNOWN'],
  ['that did not wait for its note is said to be there and has no bytes, which is the control', 'n >= 0', 'no error'],
])('an upload that finishes while it is swept %s', async (_, swept, told) => {
  const url = await lentDatabase()
  const store = await openIn(url)
  await store.appendAll([{ type: 'a.b', data: 1 }])
  const { blobs } = lentBackend(url)
  const digest = 'ab'.repeat(32)
  const writer = await blobs.write(MAIN)
  await writer.add(new Uint8Array(10), new Uint8Array(32))
  const [sweeper, watcher] = [new Client(url), new Client(url)]
  for (const client of [sweeper, watcher]) {
    await client.connect()
    later(() => client.end())
  }
  await sweeper.query(`begin; delete from inkfast.blob_pieces where ${swept}`)
  const finishing = codeOf(writer.finish(digest))
  if (told === 'BLOB_UNKNOWN') {
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until('the upload waits for the sweep', async () => ((await watcher.query(waiting)).rowCount ?? 0) > 0)
  } else await finishing
  await sweeper.query('commit')
  expect(await finishing).toBe(told)
  expect(await blobs.has(MAIN, [digest])).toEqual([told === 'no error'])
  expect(await blobs.get(MAIN, digest, 0)).toBeUndefined()
})
