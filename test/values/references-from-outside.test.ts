// Data from outside may look like a reference by chance, or tell of content that is gone. It is recorded: the work is done. What exists is kept.

import { describe, expect, test } from 'vitest'
import { memoryBackend } from '../../src/backends/memory/backend.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import { open as openStore, type Store } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const invented = { digest: 'ab'.repeat(32), bytes: 3 }
const lookalike = `value:${'A'.repeat(43)}`
const sizes = [10, 40_000, 200_000]
const filled = (size: number): string => 'x '.repeat(size / 2)

/** Data with references that hold and others that do not. */
async function mixed(store: Store, size: number) {
  const [blob, value] = [await store.blobs.put(bytesOf('kept')), await store.values.put(['kept'])]
  return { data: { fill: filled(size), list: [{ blob }, { value }], alike: { invented, lookalike } }, blob, value }
}

async function expectKept(store: Store, { blob, value }: Awaited<ReturnType<typeof mixed>>) {
  const loose = await store.values.put(['loose'])
  await store.collect({ grace: 0 })
  expect((await store.blobs.get(blob)).length).toBe(4)
  expect(await store.values.get(value)).toEqual(['kept'])
  expect(await codeOf(store.values.get(loose))).toBe('VALUE_MISSING')
  await expectSound(store)
}

describe.each(engines)('on $name', ({ open }) => {
  test.each(sizes)('an error in an event of %d bytes keeps what it names, and may name what is gone', async (size) => {
    await using store = await open()
    const session = await store.session('s')
    const given = await mixed(store, size)
    const error = { name: 'Error', message: 'no', transcript: given.value, file: given.blob }
    const gone = { name: 'Error', message: 'no', transcript: lookalike, file: invented }
    await session.append('a.failed', { error, list: [{ error: gone }], fill: given.data.fill }, { key: 'k' })
    await session.append('a.failed', { error, list: [{ error: gone }], fill: given.data.fill }, { key: 'k' })
    await session.append('a.failed', { error: gone, long: filled(2_000_000) }, { large: 'blob' })
    await expectKept(store, given)
    // The negative control: the same outside an error.
    expect(await codeOf(session.append('a.failed', { error, lookalike }))).toBe('VALUE_MISSING')
    expect(await codeOf(session.append('a.failed', { error, invented }))).toBe('BLOB_UNKNOWN')
  })

  test.each(sizes)('the result of a run of %d bytes is recorded', async (size) => {
    await using store = await open()
    const given = await mixed(store, size)
    await using node = store.work({ r: async () => given.data })
    const session = await store.session('s')
    expect(await (await store.start('r', { session: session.id })).result()).toEqual(given.data)
    await node.close()
    await expectKept(store, given)
  })

  test.each(sizes)('the result of an effect of %d bytes is recorded once', async (size) => {
    await using store = await open()
    const given = await mixed(store, size)
    let times = 0
    const session = await store.session('s')
    await using run = await session.run('r')
    const result = await run.effect('tool', async () => {
      times++
      return given.data
    })
    expect(result).toEqual(given.data)
    await expectKept(store, given)
    await run.finish()
    expect(times).toBe(1)
    await expectSound(store)
  })

  test.each(sizes)('the result of a process of %d bytes is recorded', async (size) => {
    await using store = await open()
    const given = await mixed(store, size)
    const session = await store.session('s')
    const child = await store.processes.register('p', { kind: 'k', recovery: 'external', wake: session.id })
    await child.complete(given.data)
    await expectKept(store, given)
  })

  test.each(sizes)('a streamed message of %d bytes is stored', async (size) => {
    await using store = await open()
    const given = await mixed(store, size)
    const session = await store.session('s')
    const stream = session.thread.stream('m')
    await stream.write({ type: 'data-tool', data: given.data } as never)
    await stream.close()
    const [message] = (await session.thread.messages()).items
    expect(message?.parts).toEqual([{ type: 'data-tool', data: given.data }])
    await expectKept(store, given)
  })
})

test('a commit is sent once if all that it refers to exists, and twice if anything does not', async () => {
  const backend = memoryBackend(nodeEnvironment)
  let sent = 0
  const counting = {
    ...backend,
    commit: (batch: Parameters<typeof backend.commit>[0]) => {
      sent += batch.filter(({ events }) => events.some(({ type }) => type === 'effect.settled')).length
      return backend.commit(batch)
    },
  }
  await using store = await openStore({ backend: counting, schedule: false })
  const [blob, value] = [await store.blobs.put(bytesOf('kept')), await store.values.put(['kept'])]
  const session = await store.session('s')
  await using run = await session.run('r')
  await run.effect('a', async () => ({ blob, value }))
  expect(sent).toBe(1)
  const many = Array.from({ length: 20 }, (_, i) => ({ digest: i.toString(16).padStart(2, '0').repeat(32), bytes: i }))
  await run.effect('b', async () => ({ blob, value, lookalike, many }))
  expect(sent).toBe(3)
})
