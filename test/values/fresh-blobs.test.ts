// Large payloads, results and state are blobs that are put before their commit. A collection without grace in between loses none of them.

import { describe, expect, test } from 'vitest'
import { memoryBackend } from '../../src/backends/memory/backend.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import { open as openStore, type Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'
import { rounds } from '../support/rounds.ts'

const large = (n: number): string => `${n} `.repeat(50_000)

/** Collects just before every commit that refers to a blob. `isGuarded` false takes the guards on blobs out of commits. */
function collecting(isGuarded: boolean): Backend {
  const backend = memoryBackend(nodeEnvironment)
  const seen = new Set<string>()
  let collector: Promise<Store> | undefined
  return {
    ...backend,
    commit: async (batch) => {
      const names = batch.flatMap(({ events, guards }) => [
        ...events.flatMap(({ refs = [] }) => refs),
        ...guards.flatMap((guard) => (guard.kind === 'blob' ? [`blob:${guard.digest}`] : [])),
      ])
      const isFirst = names.some((name) => !seen.has(name))
      for (const name of names) seen.add(name)
      collector ??= openStore({ backend })
      if (isFirst) collected += (await (await collector).collect({ grace: 0 })).deleted.blobs
      if (isGuarded) return backend.commit(batch)
      return backend.commit(batch.map((commit) => ({ ...commit, guards: commit.guards.filter(({ kind }) => kind !== 'blob') })))
    },
  }
}
let collected = 0

/** Every place where large data waits for its commit, with what reads it back. */
const places: Record<string, (store: Store, n: number) => Promise<() => Promise<unknown>>> = {
  'the payload of a work item': async (store, n) => {
    const queue = store.queue<string>('q')
    await queue.offer(large(n))
    return async () => (await queue.claim())?.payload
  },
  'the data of an event': async (store, n) => {
    const session = await store.session('s')
    const { id } = await session.append('note.made', large(n).repeat(20), { large: 'blob' })
    return async () => {
      const event = await store.event(id)
      return event?.blob && String(await store.data(event)).slice(0, large(n).length)
    }
  },
  'the result of an effect': async (store, n) => {
    const session = await store.session('s')
    const run = await session.run('answer')
    await run.effect('ask', () => large(n))
    await run.close()
    return async () => (await session.run('answer')).effect('ask', () => 'asked again')
  },
  'bytes of state': async (store, n) => {
    await store.state.set('k', new TextEncoder().encode(large(n)))
    return async () => new TextDecoder().decode((await store.state.get('k'))?.value as Uint8Array)
  },
  'a long string of state': async (store, n) => {
    await store.state.set('k', { text: large(n) })
    return async () => ((await store.state.get('k')) as { value: { text: string } }).value.text
  },
}

describe.each(Object.entries(places))('%s', (_, put) => {
  test('a large payload is put again if a collection deletes it before its commit', async () => {
    collected = 0
    const store = await openStore({ backend: collecting(true) })
    const read = await put(store, 1)
    expect(await read()).toBe(large(1))
    expect(collected).toBeGreaterThan(0)
    await expectSound(store)
  })
})

test('without guards on blobs, a commit names a payload that is gone', async () => {
  const store = await openStore({ backend: collecting(false) })
  const read = await places['the payload of a work item']?.(store, 2)
  expect(await codeOf(Promise.resolve(read?.()))).toBe('BLOB_UNKNOWN')
})

describe.each(engines)('on $name', ({ open }) => {
  test('payloads that are offered while collections run can all be read', async () => {
    const store = await open()
    const queue = store.queue<string>('q')
    await store.session('first')
    let writing = true
    const collections = (async () => {
      while (writing) await store.collect({ grace: 0 })
    })()
    const wanted = new Set<string>()
    try {
      for (let n = 0; n < rounds(6, 60); n++) {
        await queue.offer(large(n))
        wanted.add(large(n))
      }
    } finally {
      writing = false
      await collections
    }
    for (let claim = await queue.claim(); claim; claim = await queue.claim()) {
      expect(wanted.delete(claim.payload)).toBe(true)
      await claim.complete()
    }
    expect(wanted.size).toBe(0)
    await expectSound(store)
  })
})
