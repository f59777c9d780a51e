// What fails for good is said in one line: by console.warn where a store has no logger, by the logger where it has one.

import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest'
import { open, type Run, type Store } from '../src/index.ts'
import { engines } from './support/engines.ts'

const SECRET = `sk-ant-api03-${'a1B2c3D4e5F6'.repeat(8)}`

let warn: MockInstance<typeof console.warn>
beforeEach(() => {
  warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
})
afterEach(() => warn.mockRestore())

const linesOf = (): readonly string[] => warn.mock.calls.map((given) => given.join(' '))

/** Lets a run fail, an item die, a process fail and a scheduled task fail. */
async function failEverywhere(store: Store): Promise<{ readonly run: string; readonly item: string; readonly process: string }> {
  await using _ = store.work({
    refund: async () => {
      throw new TypeError(`no such order\n  key ${SECRET}`, { cause: new Error('the shop is closed') })
    },
    fine: async (run: Run) => run.effect('once', () => 1),
  })
  await (await store.start('fine', { session: 's' })).result()
  const run = await store.start('refund', { session: 's' })
  await run.result().catch(() => {})
  const queue = store.queue('mail')
  await using __ = queue.work(() => {
    throw new Error('no such address')
  })
  const item = await queue.offer({}, { attempts: 2, backoff: 0 })
  await vi.waitFor(async () => expect((await queue.get(item.id))?.state).toBe('dead'), { timeout: 30_000, interval: 20 })
  await using ___ = store.processes.work({
    crawl: () => {
      throw new Error('the site is away')
    },
  })
  const child = await store.processes.register('crawl/1', { kind: 'crawl', recovery: 'rerunnable', attempts: 1 })
  await child.result()
  return { run: run.id, item: item.id, process: child.id }
}

describe.each(engines)('the log of a store on $name', (engine) => {
  test('without a logger, each failure is one line of console.warn without secrets', async () => {
    const store = await engine.open({ logger: undefined as never })
    const ids = await failEverywhere(store)
    // The line follows the commit, so the last one may still be on its way.
    await vi.waitFor(() => expect(linesOf().join('\n')).toContain(ids.process), { timeout: 20_000 })
    const about = (id: string) => linesOf().filter((line) => line.includes(id))
    expect(about(ids.run)).toEqual([
      expect.stringMatching(
        /^inkfast: a run has failed: run=\S+ name=refund .*error="TypeError: no such order .*cause="Error: the shop is closed"/,
      ),
    ])
    expect(about(ids.run)[0]).toContain(`look="inkfast runs show … ${ids.run}"`)
    expect(about(ids.item)).toEqual([
      expect.stringMatching(/^inkfast: a work item is dead: item=\S+ queue=mail attempt=2 .*no such address/),
    ])
    expect(about(ids.process)).toEqual([expect.stringMatching(/^inkfast: a process has failed: .* name=crawl\/1 .*the site is away/)])
    expect(linesOf().filter((line) => /[\n\r]/.test(line))).toEqual([])
    expect(linesOf().join()).not.toContain(SECRET.slice(13, 40))
    expect(linesOf()).toHaveLength(3)
  })

  test('logger: false is silent, and a logger gets the lines instead', async () => {
    await failEverywhere(await engine.open({ logger: false }))
    expect(linesOf()).toEqual([])
    const told: string[] = []
    const store = await engine.open({ logger: { warn: (message, details) => void told.push(`${message} ${JSON.stringify(details)}`) } })
    const ids = await failEverywhere(store)
    await vi.waitFor(() => expect(told.join('\n')).toContain(ids.process), { timeout: 20_000 })
    expect(told.filter((line) => line.startsWith('a run has failed'))).toHaveLength(1)
    expect(told.filter((line) => line.startsWith('a work item is dead'))).toHaveLength(1)
    expect(told.join()).not.toContain(SECRET.slice(13, 40))
    expect(linesOf()).toEqual([])
  })
})

test('a background task that goes on failing is said once a minute', async () => {
  const { memoryBackend } = await import('../src/backends/memory/backend.ts')
  const { nodeEnvironment } = await import('../src/environment.ts')
  const backend = memoryBackend(nodeEnvironment)
  let looks = 0
  const failed = Promise.withResolvers<void>()
  const due: typeof backend.queries.due = () => {
    if (++looks > 3) failed.resolve()
    return Promise.reject(new Error('the disk is away'))
  }
  await using store = await open({ backend: { ...backend, queries: { ...backend.queries, due } }, schedule: false })
  await using _ = store.work({ refund: async () => {} })
  await failed.promise
  expect(linesOf()).toEqual([expect.stringMatching(/^inkfast: a node could not look for work: error="Error: the disk is away"$/)])
})

test('a logger that is neither false nor an object is refused', async () => {
  for (const logger of [true, 'console', null])
    await expect(open({ url: ':memory:', logger: logger as never })).rejects.toMatchObject({ code: 'OPTION_INVALID' })
})
