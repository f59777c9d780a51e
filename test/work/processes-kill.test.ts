// A program that runs processes is killed, at any of its commits and for real. Whoever comes next finds each of them as it was or as it is to be,
// and nothing in between.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { AgentProcess, RunningProcess, Session, Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Change, Commit, Outcome } from '../../src/ports/commit.ts'
import { type Death, type Engine, makePlace, mortal, type Place } from '../runs/crashing-backend.ts'
import { expectSound, later, openIn, tempDatabase, tempFile } from '../support/engines.ts'
import { programAt } from '../support/programs.ts'
import { share } from '../support/rounds.ts'

const OWNER = programAt(new URL('./process-owner.ts', import.meta.url))

async function owner(url: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [OWNER, url], { stdio: ['pipe', 'pipe', 'inherit'] })
  later(() => child.kill('SIGKILL'))
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  return child
}

const found = async (store: Store, name: string): Promise<AgentProcess> => (await store.processes.get(name)) as AgentProcess

describe.each<Engine>(['sqlite', 'postgres'])('on %s', (engine) => {
  const urlOf = () => (engine === 'sqlite' ? tempFile() : tempDatabase())

  test('processes of an owner that was killed are abandoned where they are bound to it, and run again where not, without waiting for a lease', async () => {
    const url = await urlOf()
    const child = await owner(url)
    const store = await openIn(url)
    const [bound, free] = [await found(store, 'bound'), await found(store, 'free')]
    const { started } = await bound.look()
    const { fence } = (await bound.holder()) as { fence: number }
    child.kill('SIGKILL')
    await once(child, 'close')
    const ran: string[] = []
    await using _ = store.processes.work({ tool: ({ name }) => void ran.push(name) })
    expect(await bound.result()).toEqual({ state: 'abandoned', evidence: { writer: 'sweep', owner: started?.owner, fence } })
    expect((await free.result()).state).toBe('completed')
    expect(ran).toEqual(['free'])
    await expectSound(store)
  })

  test('processes of an owner that is only paused are left alone', async () => {
    const url = await urlOf()
    const child = await owner(url)
    child.kill('SIGSTOP')
    const store = await openIn(url)
    const ran: string[] = []
    await using node = store.processes.work({ tool: ({ name }) => void ran.push(name) })
    await store.processes.register('mine', { kind: 'tool', recovery: 'ownerBound' })
    expect((await (await found(store, 'mine')).result()).state).toBe('completed')
    await expect.poll(() => node.stats()).toMatchObject({ completed: 1, abandoned: 0 })
    expect([(await (await found(store, 'bound')).look()).state, ran]).toEqual(['running', ['mine']])
  })
})

const BOTH = ['before', 'after'] as const
const WORDS = ['one', 'two', 'three']

/** Registers it and runs it: what it says wakes the session, under a key. */
async function live(store: Store, recovery: 'rerunnable' | 'ownerBound'): Promise<AgentProcess> {
  const session = await store.session('s')
  const events = { 'word.said': { wake: true } } as const
  const child = await store.processes.register('c', { kind: 'tool', recovery, wake: session.id, events })
  const handler = async (it: RunningProcess) => {
    for (const key of WORDS) await it.event('word.said', { key }, { key })
    return WORDS.length
  }
  store.processes.work({ tool: handler })
  return child
}

type Recovery = 'rerunnable' | 'ownerBound'

/** What is wrong with what was left: whatever was said is to be heard once and in order, and an end to be told together with being one. */
async function complaintsAbout(child: AgentProcess, session: Session, recovery: Recovery): Promise<readonly string[]> {
  const { state } = await child.look()
  const said = (await child.events()).items.filter(({ type }) => type === 'word.said').map(({ key }) => key)
  const inbox = (await session.inbox.list()).items.map(({ payload }) => payload as { type: string; input: { key?: string } })
  const woken = inbox.map(({ type, input }) => input.key ?? type).reverse()
  const ended = state === 'completed'
  return [
    ...(`${said}` === `${WORDS.slice(0, ended ? WORDS.length : said.length)}` ? [] : [`said ${said}, and ${state}`]),
    ...(`${woken}` === `${[...said, ...(ended ? ['process.completed'] : [])]}` ? [] : [`said ${said}, woken for ${woken}`]),
    ...(ended || (state === 'running' && recovery === 'ownerBound') ? [] : [`left ${state}`]),
  ]
}

/** Dies at this commit, or lives to the end. */
async function firstLife(place: Place, death: Death | undefined, recovery: Recovery, around: (backend: Backend) => Backend) {
  const life = mortal(await place.backend(), death)
  const store = await place.open(around(life.backend))
  const child = live(store, recovery)
  child.catch(() => {})
  await Promise.race([child.then((it) => it.result()), life.died])
  const { commits, dead } = life
  if (!dead) await store.close()
  return { commits, dead }
}

/** Killed before and after each of its commits; whoever comes next, when the lease is over, goes on. */
async function everyDeath(engine: Engine, recovery: Recovery, around = (backend: Backend) => backend) {
  const { commits } = await firstLife(await makePlace(engine), undefined, recovery, around)
  expect(commits).toBeGreaterThan(6)
  const complaints: string[] = []
  const states = new Set<string>()
  const every = Array.from({ length: commits }, (_, i) => BOTH.map((when) => ({ at: i + 1, when }))).flat()
  // A server takes its time. An odd share has deaths before and after a commit.
  for (const death of engine === 'sqlite' ? every : share(every, 3)) {
    const place = await makePlace(engine)
    expect((await firstLife(place, death, recovery, around)).dead).toBe(true)
    await place.pass(31_000)
    const store = await place.open(await place.backend())
    const child = await live(store, recovery)
    if (recovery === 'rerunnable' || !(await child.look()).started) await child.result()
    const wrong = await complaintsAbout(child, await store.session('s'), recovery)
    complaints.push(...wrong.map((why) => `${death.when} commit ${death.at}: ${why}`))
    states.add((await child.look()).state)
    await store.close()
    await expectSound(place.world)
  }
  return { complaints, states: [...states].sort() }
}

describe.each<Engine>(['sqlite', 'postgres'])('killed at any commit on %s', (engine) => {
  test.each([
    ['rerunnable', ['completed']],
    ['ownerBound', ['completed', 'running']],
  ] as const)('a %s process that is killed at any commit has said everything once, and woken for each once', async (recovery, states) => {
    expect(await everyDeath(engine, recovery)).toEqual({ complaints: [], states })
  })
})

/** What is told to a session comes in a commit of its own, after what it is about. */
const apart = (backend: Backend): Backend => ({
  ...backend,
  commit: async (batch) => {
    const outcomes: Outcome[] = []
    for (const commit of batch) {
      const at = commit.events.findIndex(({ type }) => type === 'batch.offered')
      const [first] = await backend.commit([at < 1 ? commit : without(commit, at)])
      const [second] = at < 1 ? [] : await backend.commit([only(commit, at)])
      const both = first?.ok && second?.ok ? { ...first, receipts: first.receipts.toSpliced(at, 0, ...second.receipts) } : first
      outcomes.push(both as Outcome)
    }
    return outcomes
  },
})

const isTold = (change: Change): boolean => change.kind === 'put' && change.table === 'inbox'
const moved = (change: Change, by: (event: number) => number): Change =>
  change.kind === 'put' && change.event !== undefined ? { ...change, event: by(change.event) } : change
const without = (commit: Commit, at: number): Commit => ({
  ...commit,
  events: commit.events.toSpliced(at, 1),
  changes: commit.changes.filter((change) => !isTold(change)).map((change) => moved(change, (event) => (event > at ? event - 1 : event))),
})
const only = ({ tenant, events, changes }: Commit, at: number): Commit => ({
  tenant,
  guards: [],
  events: events.slice(at, at + 1),
  changes: changes.filter(isTold).map((change) => moved(change, () => 0)),
})

test('a wake-up in a commit of its own is found out', async () => {
  const { complaints } = await everyDeath('sqlite', 'rerunnable', apart)
  expect(complaints).toContainEqual(expect.stringMatching(/^(?:before|after) commit \d+: said one,two,three, woken for /))
})
