// Content that is put before its commit. Collections without grace in between lose none of it.

import { describe, expect, test } from 'vitest'
import { memoryBackend } from '../../src/backends/memory/backend.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import { open as openStore, type Store } from '../../src/index.ts'
import { FreshBlobs } from '../../src/kernel/content/blobs-before-commit.ts'
import { MAIN } from '../../src/model/ids.ts'
import { limits } from '../../src/model/limits.ts'
import { valueRef } from '../../src/model/value.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'
import { rounds } from '../support/rounds.ts'

const large = (n: number): string => `${n} `.repeat(50_000)

/** Collects just before the first commits that refer to a blob or a value. `isGuarded` false takes the guards on blobs out of commits. */
function collecting(isGuarded: boolean, times = 3): Backend {
  const backend = memoryBackend(nodeEnvironment)
  const seen = new Map<string, number>()
  let collector: Promise<Store> | undefined
  return {
    ...backend,
    commit: async (batch) => {
      const names = batch.flatMap(({ events, guards }) => [
        ...events.flatMap(({ refs = [] }) => refs),
        ...guards.flatMap((guard) =>
          guard.kind === 'blob' ? [`blob:${guard.digest}`] : guard.kind === 'value' ? [valueRef(guard.ref)] : [],
        ),
      ])
      const isEarly = names.some((name) => (seen.get(name) ?? 0) < times)
      for (const name of names) seen.set(name, (seen.get(name) ?? 0) + 1)
      collector ??= openStore({ backend })
      if (isEarly) {
        const { deleted } = await (await collector).collect({ grace: 0 })
        collected += deleted.blobs + deleted.nodes
      }
      if (isGuarded) return backend.commit(batch)
      return backend.commit(batch.map((commit) => ({ ...commit, guards: commit.guards.filter(({ kind }) => kind !== 'blob') })))
    },
  }
}
let collected = 0

const textOf = (found: unknown): string | undefined => (found as { text: string } | undefined)?.text

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
  'an artifact': async (store, n) => {
    await store.artifacts.put('release', 'latest', new TextEncoder().encode(large(n)))
    return async () => new TextDecoder().decode(await store.artifacts.get('release', 'latest'))
  },
  'an attachment': async (store, n) => {
    const session = await store.session('s')
    const { id } = await session.attachments.put(new TextEncoder().encode(large(n)), { mediaType: 'text/plain' })
    return async () => new TextDecoder().decode((await session.attachments.get(id))?.bytes)
  },
  'bytes of a checkpoint': async (store, n) => {
    const session = await store.session('s')
    const run = await session.run('answer')
    await run.checkpoint({ state: new TextEncoder().encode(large(n)) })
    await run.close()
    return async () => new TextDecoder().decode((await (await session.run('answer')).restore<{ state: Uint8Array }>())?.state)
  },
  'a long text of a message': async (store, n) => {
    const session = await store.session('s')
    await session.thread.add({ id: 'm', role: 'user', parts: [{ type: 'text', text: large(n) }] })
    await session.thread.update('m', (message) => ({ ...message, metadata: { seen: true } }))
    return async () => textOf((await session.thread.get('m'))?.parts[0])
  },
  'a long text of a streamed message': async (store, n) => {
    const session = await store.session('s')
    await using stream = session.thread.stream('m')
    await stream.write({ type: 'text-start', id: '0' })
    await stream.flush()
    await stream.write({ type: 'text-delta', id: '0', delta: large(n) })
    await stream.write({ type: 'text-end', id: '0' })
    await stream.close()
    return async () => textOf((await session.thread.get('m'))?.parts[0])
  },
  'a long text of a turn': async (store, n) => {
    const session = await store.session('s')
    await session.commitTurn({ turn: 't', expectedHead: 0, nodes: [{ id: 'n', parent: null, payload: { text: large(n) } }] })
    return async () => textOf((await session.graph.node('n'))?.payload)
  },
  'a value': async (store, n) => {
    const ref = await store.values.put({ text: large(n) })
    return async () => textOf(await store.values.get(ref))
  },
  'the canvas of a fork': async (store, n) => {
    const session = await store.session('s')
    await session.canvas('plan').replace({ text: large(n).slice(0, 20_000) })
    const fork = await session.fork({ at: (await store.head()).seq })
    return async () => `${textOf((await fork.canvas('plan').get())?.document)}${large(n).slice(20_000)}`
  },
  'a long string of state': async (store, n) => {
    await store.state.set('k', { text: large(n) })
    return async () => textOf((await store.state.get('k'))?.value)
  },
}

describe.each(Object.entries(places))('%s', (_, put) => {
  test('is put again when collections delete it before its commit', async () => {
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

test('a payload whose process collects before each of its commits is saved with the first repetition', async () => {
  const backend = memoryBackend(nodeEnvironment)
  let attempts = 0
  const store: Store = await openStore({
    backend: {
      ...backend,
      commit: async (batch) => {
        if (batch.some(({ guards }) => guards.some(({ kind }) => kind === 'blob'))) {
          attempts++
          await store.collect({ grace: 0 })
        }
        return backend.commit(batch)
      },
    },
  })
  const read = await places['the payload of a work item']?.(store, 3)
  expect(await read?.()).toBe(large(3))
  expect(attempts).toBe(2)
  await expectSound(store)
})

test('a blob whose write gave up is collected ten seconds after it was put again', () => {
  const fresh = new FreshBlobs()
  fresh.note(MAIN, 'digest', new Uint8Array(1))
  expect(fresh.isAwaited(MAIN, 'digest', 0)).toBe(false)
  expect(fresh.takeAgain(MAIN, 'digest', 0)).toHaveLength(1)
  expect([fresh.isAwaited(MAIN, 'digest', limits.conflictMs - 1), fresh.isAwaited(MAIN, 'digest', limits.conflictMs)]).toEqual([
    true,
    false,
  ])
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
