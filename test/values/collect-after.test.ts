// Garbage collection in `maintain` after a number of commits or bytes, and the space that SQLite gives back.

import { statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { open as openStore, type Store } from '../../src/index.ts'
import { codeOf, engines, expectSound, openIn, tempFile } from '../support/engines.ts'

const DAY = 24 * 60 * 60 * 1000

/** Values that nothing refers to. Each put is one commit. */
async function garbage(store: Store, commits: number, bytes = 100): Promise<void> {
  for (let n = 0; n < commits; n++) await store.values.put(`${n} ${crypto.randomUUID()}`.padEnd(bytes, '.'))
}

const collectedBy = async (store: Store): Promise<number | undefined> => (await store.maintain()).nodesCollected

describe.each(engines)('maintenance on $name', ({ open, openInTime }) => {
  test('maintenance collects nothing unless it was asked to', async () => {
    const { store, pass } = await openInTime()
    await store.session('s')
    await garbage(store, 5)
    await pass(2 * DAY)
    expect(await collectedBy(store)).toBeUndefined()
    expect((await store.collect({ dryRun: true })).deleted.nodes).toBe(5)
  })

  test('maintenance collects after a number of commits, and counts again from then on', async () => {
    const { store, pass } = await openInTime({ collectAfter: { commits: 5 } })
    await store.session('s')
    await garbage(store, 3)
    await pass(2 * DAY)
    expect(await collectedBy(store)).toBeUndefined()
    await garbage(store, 1)
    // The last one is younger than a day.
    expect(await collectedBy(store)).toBe(3)
    expect(await collectedBy(store)).toBeUndefined()
    await garbage(store, 5)
    await pass(2 * DAY)
    expect(await collectedBy(store)).toBe(6)
    await expectSound(store)
  })

  test('maintenance collects after a number of bytes, of values and of blobs', async () => {
    const { store, pass } = await openInTime({ collectAfter: { bytes: 10_000 } })
    await store.session('s')
    await garbage(store, 2, 3000)
    await pass(2 * DAY)
    expect(await collectedBy(store)).toBeUndefined()
    await store.blobs.put(new Uint8Array(5000))
    expect(await store.maintain()).toMatchObject({ nodesCollected: 2, blobsCollected: 0 })
  })

  test('a wrong option of collectAfter is refused', async () => {
    for (const collectAfter of [{}, { commits: 0 }, { bytes: 1.5 }, { days: 1 }, 5])
      expect(await codeOf(open({ collectAfter: collectAfter as never }))).toBe('OPTION_INVALID')
  })
})

test('on SQLite a collection makes the file smaller, in slices, and leaves what is in use', async () => {
  const path = tempFile()
  const store = await openIn(path)
  const kept = await store.values.put({ text: 'kept '.repeat(100) })
  await store.pin(kept)
  const noise = (): string => Array.from({ length: 1500 }, () => crypto.randomUUID()).join('')
  for (let n = 0; n < 60; n++) await store.values.put(noise())
  await store.close()
  const { size } = statSync(path)
  const again = await openStore(path)
  const { freed, deleted } = await again.collect({ grace: 0 })
  expect(deleted.nodes).toBe(60)
  // More than one slice of 1 MiB.
  expect(freed).toBeGreaterThan(1.2 * 1024 * 1024)
  expect(await again.values.get(kept)).toEqual({ text: 'kept '.repeat(100) })
  await expectSound(again)
  await again.close()
  expect(statSync(path).size).toBeLessThan(size - freed * 0.9)
})
