// Erased text is in none of the files while the store is still open: not in pages, not in the log, not in blobs. The canary is a text that
// compression leaves as it is, so the search finds it where it stands.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { expectSound, later, tempFile } from '../support/engines.ts'

const CANARY = 'zq7-Kx.erased-canary.9Wv'

/**
 * Texts that are too large for an event together and too small for blobs, so they are nodes of the database. They repeat but for the canary,
 * which is then one of the few literals that a compressed node begins with.
 */
const texts = (): readonly string[] => Array.from({ length: 8 }, (_, i) => `${i} ${'never again '.repeat(500)}${CANARY} ${i}`)
const parts = () => texts().map((text) => ({ type: 'text', text }))

function filesWith(text: string, path: string): readonly string[] {
  const folder = dirname(path)
  return (readdirSync(folder, { recursive: true }) as string[]).filter((name) => {
    const file = join(folder, name)
    return statSync(file).isFile() && readFileSync(file).includes(text)
  })
}

test('a large message that was erased is in no file, though the store is open', async () => {
  const path = tempFile()
  const store = await open({ url: path, redact: false })
  later(() => store.close())
  const { thread } = await store.session('s')
  await thread.add({ id: 'm', role: 'user', parts: parts() })
  // The control: it was there, and it is the erasure that removes it.
  expect(filesWith(CANARY, path)).not.toEqual([])
  await thread.erase('m', { reason: 'request 7' })
  expect(filesWith(CANARY, path)).toEqual([])
  await expectSound(store)
})

test('large contents of a deleted session are in no file after a collection, though the store is open', async () => {
  const path = tempFile()
  const store = await open({ url: path, redact: false })
  later(() => store.close())
  const session = await store.session('s')
  await session.thread.add({ id: 'm', role: 'user', parts: parts() })
  await session.commitTurn({ turn: 't', nodes: [{ id: 'n', parent: null, payload: { texts: texts() } }] })
  await session.state.set('k', { texts: texts() })
  expect(filesWith(CANARY, path)).not.toEqual([])
  await session.delete({ reason: 'request 8' })
  await store.collect({ grace: 0 })
  expect(filesWith(CANARY, path)).toEqual([])
  await expectSound(store)
})
