// A turn dies at any of its commits, before the save and after it. Whoever goes on finds the turn completely or not at all, and commits it once.

import { describe, expect, test } from 'vitest'
import type { Session, Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Commit, Outcome } from '../../src/ports/commit.ts'
import { type Death, type Engine, makePlace, mortal, type Place } from '../runs/crashing-backend.ts'
import { expectSound } from '../support/engines.ts'
import { QUICK, share } from '../support/rounds.ts'

const LEASE_MS = 30_000
const large = Array.from({ length: 300 }, (_, i) => `line ${i}`)
const FILE = Uint8Array.from({ length: 50 }, (_, i) => i)

/** A program that takes what is offered and commits its turn. It may be started again at any point. */
async function program(store: Store): Promise<void> {
  const session = await store.session('s')
  const run = await session.run('turn', { key: 'k' })
  if (run.state === 'done') return
  const inputs = await run.inputs({ from: 'next' })
  const { claim } = await run.inbox({ at: 'boundary' })
  const file = await session.attachments.put(FILE)
  const { revision } = await session.commitTurn({
    turn: 't',
    expectedHead: 0,
    nodes: [
      { id: 'q', parent: null, payload: { role: 'user', content: 'ship' } },
      { id: 'a', parent: 'q', payload: large },
    ],
    checkpoint: { state: large, bytes: FILE },
    messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'ship' }] }],
    usage: { model: 'm', inputTokens: 5 },
    inputs,
    ...(claim !== undefined && { claims: [claim] }),
    attachments: [file],
    enqueue: [{ payload: 'next' }],
    lease: run,
  })
  expect(revision).toBe(1)
  await run.finish('done')
}

const whole = {
  nodes: 2,
  checkpoint: true,
  messages: 1,
  tokens: 5,
  inputs: ['completed', 'completed'],
  inbox: ['completed', 'pending'],
  attachments: ['committed'],
}

async function stateOf(session: Session): Promise<typeof whole> {
  const head = await session.head()
  return {
    nodes: (await session.graph.list()).items.length,
    checkpoint: (await session.checkpoint()) !== undefined,
    messages: (await session.thread.messages()).length,
    tokens: head.usage.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    inputs: (await session.inputs.list({ first: 9 })).items.map(({ state }) => state),
    inbox: (await session.inbox.list({ first: 9 })).items.map(({ state }) => state),
    attachments: (await session.attachments.list()).items.map(({ state }) => state).filter((state) => state !== 'stored'),
  }
}

const isThere = ({ inputs, inbox, ...rest }: typeof whole): boolean[] => [
  rest.nodes > 0,
  rest.checkpoint,
  rest.messages > 0,
  rest.tokens > 0,
  inputs.every((state) => state === 'completed'),
  inbox.length > 1,
  rest.attachments.length > 0,
]

/** Lives until the turn is done. Returns what an onlooker saw after the first death, and the number of commits of the first life. */
async function course(place: Place, tenant: string, death?: Death, around = (backend: Backend) => backend) {
  const world = place.world.tenant(tenant)
  const session = await world.session('s')
  for (const word of ['one', 'two']) await session.input(word, { turn: 'next' })
  await session.inbox.offer('work', { kind: 'turn', delivery: 'boundary' })
  let commits = 0
  let seen: typeof whole | undefined
  for (let life = 1, done = false; !done; life++) {
    const backend = await place.backend()
    const one = mortal(life === 1 ? around(backend) : backend, life === 1 ? death : undefined)
    const root = place.open(one.backend)
    const living = root.then((store) => program(store.tenant(tenant)))
    done = await Promise.race([living.then(() => true), one.died.then(() => false)])
    if (life === 1) commits = one.commits
    if (done) await (await root).close()
    else {
      await backend.close()
      seen ??= await stateOf(session)
      await place.pass(LEASE_MS + 1)
    }
  }
  return { commits, seen, end: await stateOf(session) }
}

const ENGINES: readonly Engine[] = QUICK ? ['sqlite'] : ['sqlite', 'postgres']

describe.each(ENGINES)('a turn that dies on %s', (engine) => {
  test('a turn that dies at any commit, before or after the save, is there completely or not at all, and is committed once', async () => {
    const place = await makePlace(engine)
    const { commits, end } = await course(place, 'whole')
    expect(end).toEqual(whole)
    expect(commits).toBeGreaterThan(4)
    const deaths = Array.from({ length: commits }, (_, i) => [
      { at: i + 1, when: 'before' } as const,
      { at: i + 1, when: 'after' } as const,
    ]).flat()
    for (const death of share(deaths, engine === 'sqlite' ? 3 : 8)) {
      const lived = await course(place, `${death.when}-${death.at}`, death)
      if (lived.seen) expect(new Set(isThere(lived.seen)).size, `${death.when} ${death.at}: ${JSON.stringify(lived.seen)}`).toBe(1)
      expect(lived.end, `${death.when} ${death.at}`).toEqual(whole)
    }
    await expectSound(place.world)
  })

  test('a turn in two commits, with a death between them, would be there in part', async () => {
    const place = await makePlace(engine)
    const inTwo = (backend: Backend): Backend => ({ ...backend, commit: (batch) => splitTurns(backend, batch) })
    const { commits } = await course(place, 'count')
    const torn: boolean[] = []
    for (let at = 3; at <= commits + 1; at++) {
      const lived = await course(place, `torn-${at}`, { at, when: 'after' }, inTwo).catch(() => undefined)
      torn.push(lived?.seen !== undefined && new Set(isThere(lived.seen)).size > 1)
    }
    expect(torn).toContain(true)
  })
})

/** A store that forgets half of a turn, as a second commit that never came would. */
async function splitTurns(backend: Backend, batch: readonly Commit[]): Promise<readonly Outcome[]> {
  const halves = batch.map((commit) => {
    if (commit.events[0]?.type !== 'turn.committed') return commit
    const changes = commit.changes.filter((change) => !('table' in change) || change.table !== 'graph_nodes')
    return { ...commit, changes }
  })
  return backend.commit(halves)
}
