// A program that gets a placeholder back instead of its data is told so once, with the place and without the secret.

import { describe, expect, test } from 'vitest'
import type { Run, Session, Store, StoreOptions } from '../../src/index.ts'
import { inMemory } from '../runs/in-memory.ts'
import { engines } from '../support/engines.ts'

const SECRET = `sk-ant-api03-${'hunter2canary'.repeat(4)}`
const DATA = { user: 'ada', session: { password: 'hunter2canary' } }

interface Places {
  readonly store: Store
  readonly session: Session
  readonly run: Run
}

const READ_BACK: Readonly<Record<string, (places: Places) => Promise<unknown>>> = {
  "the effect 'login'": ({ run }) => run.effect('login', () => DATA),
  "the input of the run 'child'": ({ store, session }) => store.start('child', { session: session.id, input: DATA, parallel: true }),
  'the program': ({ run }) => run.finish(DATA),
  "an item of the queue 'mail'": ({ store }) => store.queue('mail').offer(DATA),
  'an item of the inbox': ({ session }) => session.inbox.offer(DATA, { kind: 'turn', delivery: 'afterTurn' }),
  'an input of the session': ({ session }) => session.input(DATA),
  "the signal 'go'": ({ store, session }) => store.signal(session.id, 'go', DATA),
  "the payload of the cron job 'poll'": ({ store }) => store.cron.set('poll', { every: '1h', queue: 'q', payload: DATA }),
  "a firing of 'stripe'": ({ store }) => store.triggers.fire('stripe', DATA),
  'the document of a canvas': ({ session }) => session.canvas('plan').replace(DATA),
}

const opening =
  (open: (options: Partial<StoreOptions>) => Promise<Store>) =>
  async (options: Partial<StoreOptions> = {}) => {
    const lines: [string, Readonly<Record<string, unknown>>][] = []
    const warn = (message: string, details: Readonly<Record<string, unknown>> = {}) => {
      if (message.startsWith('masking changed')) lines.push([message, details])
    }
    const store = await open({ ...options, logger: { info: () => {}, warn, error: () => {} } })
    const session = await store.session('s')
    return { lines, places: { store, session, run: await session.run('r') } }
  }

test.each(Object.entries(READ_BACK))('%s is told of if masking changed it', async (of, give) => {
  const { lines, places } = await opening(inMemory)()
  await give(places)
  expect(lines.map(([, details]) => details.of)).toEqual([of])
})

describe.each(engines)('a masked value on $name', (engine) => {
  const opened = opening(engine.open)

  test('is told once, with its place and what to do', async () => {
    const { lines, places } = await opened()
    await places.run.effect('login', () => DATA)
    await places.run.effect('again', () => ({ key: SECRET }))
    await places.store.queue('mail').offer(DATA)
    expect(lines).toHaveLength(1)
    expect(lines[0]?.[1]).toMatchObject({ of: "the effect 'login'", at: '$.session.password' })
    expect(lines[0]?.[1].remedy).toContain('redact: false')
    expect(JSON.stringify(lines)).not.toContain('hunter2canary')
  })

  test('is not told if nothing was masked, or if it was allowed', async () => {
    const { lines, places } = await opened({ redact: { allow: ['password'] } })
    await places.run.effect('login', () => DATA)
    await places.run.effect('whole', () => ({ key: SECRET }), { redact: false })
    // What is compared or shown to people is not read back by the program.
    await places.run.effect('asked', () => 1, { input: { key: SECRET } })
    await places.session.append('a.b', { key: SECRET })
    expect(lines).toEqual([])
  })

  test('is told without a name that is secret itself', async () => {
    const { lines, places } = await opened()
    await places.run.effect('login', () => ({ tokens: { [SECRET]: 1 } }))
    expect(lines.map(([, details]) => details.at)).toEqual(['$.tokens'])
  })
})
