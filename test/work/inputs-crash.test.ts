// A turn dies between any two of its commits, before the save and after it, while people go on speaking: whoever goes on with it hears what it had
// heard, nothing is heard or claimed twice, and nothing that was said is lost.

import { describe, expect, test } from 'vitest'
import type { Run, Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Outcome } from '../../src/ports/commit.ts'
import { type Death, type Engine, makePlace, mortal, type Place } from '../runs/crashing-backend.ts'
import { share } from '../support/rounds.ts'

const LEASE_MS = 30_000
type Shape = 'taken up by a node' | 'opened by its program'

/** What a life was told, in the order it asked. */
type Told = readonly unknown[]

async function speak(world: Store, word: string): Promise<void> {
  const session = await world.session('s')
  await session.input(word, { key: word })
  await session.input(`${word}, before you end`, { key: `${word}!`, boundary: 'beforeCompletion' })
  await session.input(`${word}, next time`, { key: `${word}?`, turn: 'next' })
  await session.inbox.offer(word, { key: word, kind: 'turn', delivery: 'boundary' })
}

/** A turn that listens at every place, with somebody speaking in between. */
async function turn(run: Run, world: Store, told: unknown[]): Promise<unknown> {
  const hear = async (...given: Parameters<Run['inputs']>) => told.push((await run.inputs(...given)).map(({ content }) => content))
  const claim = async () => {
    const { batches, why, claim: id } = await run.inbox({ at: 'boundary', most: 2 })
    told.push(why ?? batches.map(({ payload }) => payload))
    return id
  }
  await hear({ from: 'next' })
  await run.effect('one', () => speak(world, 'one'))
  await hear()
  const first = await claim()
  await run.effect('two', () => speak(world, 'two'))
  if (first) await run.inboxDone(first)
  await claim()
  await hear({ boundary: 'beforeCompletion' })
  return told.length
}

interface Course {
  readonly told: readonly Told[]
  readonly commits: number
  readonly complaints: readonly string[]
}

async function course(place: Place, tenant: string, shape: Shape, death?: Death, around = (backend: Backend) => backend): Promise<Course> {
  const world = place.world.tenant(tenant)
  await speak(world, 'before')
  const byNode = shape === 'taken up by a node'
  if (byNode) await world.start('turn', { session: 's', key: 'k' })
  const all: unknown[][] = []
  let commits = 0
  for (let life = 1, done = false; !done; life++) {
    const backend = await place.backend()
    const one = mortal(life === 1 ? around(backend) : backend, life === 1 ? death : undefined)
    const root = place.open(one.backend)
    const living = root.then(async (store) => {
      const program = (run: Run) => {
        const told: unknown[] = []
        all.push(told)
        return turn(run, world, told)
      }
      if (byNode) {
        store.tenant(tenant).work({ turn: program }, { drain: 1 })
        const [row] = (await world.runs.list({ name: 'turn' })).items
        await (await world.runs.handle(row?.id ?? '')).result()
      } else {
        const run = await (await store.tenant(tenant).session('s')).run('turn', { key: 'k' })
        if (run.state !== 'done') await run.finish(await program(run))
      }
    })
    done = await Promise.race([living.then(() => true), one.died.then(() => false)])
    if (life === 1) commits = one.commits
    if (done) await (await root).close()
    else {
      await backend.close()
      await speak(world, `after life ${life}`)
      await place.pass(LEASE_MS + 1)
    }
  }
  return { told: all, commits, complaints: [...disagreements(all), ...(await wrongIn(world))] }
}

/** Every life was told what the one after it was told, as far as it came. */
function disagreements(all: readonly Told[]): readonly string[] {
  return all.flatMap((told, life) =>
    told.flatMap((answer, i) => {
      const later = all[life + 1]?.[i]
      return later === undefined || JSON.stringify(answer) === JSON.stringify(later)
        ? []
        : [`life ${life + 1} was told ${JSON.stringify(answer)}, and the next one ${JSON.stringify(later)}`]
    }),
  )
}

async function wrongIn(world: Store): Promise<readonly string[]> {
  const wrong: string[] = []
  const times = new Map<string, number>()
  for await (const { type, subject } of world.events({ types: ['input.accepted', 'input.completed', 'batch.claimed', 'batch.completed'] }))
    times.set(`${type} ${subject}`, (times.get(`${type} ${subject}`) ?? 0) + 1)
  for (const [what, often] of times) if (often !== 1) wrong.push(`${often} times: ${what}`)
  const session = await world.session('s')
  const [inputs, batches] = [(await session.inputs.list({ last: 1000 })).items, (await session.inbox.list({ last: 1000 })).items]
  for (const { id, state, content } of inputs)
    if (state !== (times.has(`input.accepted ${id}`) ? 'completed' : 'deferred')) wrong.push(`${content} is ${state}`)
  for (const { id, state, payload } of batches)
    if (state !== (times.has(`batch.claimed ${id}`) ? 'completed' : 'pending')) wrong.push(`${payload} is ${state}`)
  const { intact } = await world.verify()
  const { equal } = await world.rebuild({ check: true })
  return [...wrong, ...(intact ? [] : ['not intact']), ...(equal ? [] : ['not equal'])]
}

/** What a run takes is told to it and kept nowhere: a recording after the fact, when the crash comes first. */
const unrecorded = (backend: Backend): Backend => ({
  ...backend,
  commit: async (batch) => {
    const kept = batch.filter(({ events }) => events[0]?.type !== 'run.took')
    const outcomes = [...(kept.length > 0 ? await backend.commit(kept) : [])]
    return batch.map((commit) => {
      if (kept.includes(commit)) return outcomes.shift() as Outcome
      const receipts = commit.events.map(({ id }) => ({ id, seq: 0, hash: '', tenant: commit.tenant }))
      return { ok: true, receipts, repeated: false, now: Date.now() }
    })
  },
})

describe.each<Engine>(['sqlite', 'postgres'])('on %s', (engine) => {
  test.each<Shape>(['taken up by a node', 'opened by its program'])(
    'a turn %s hears the same after a crash at any commit',
    async (shape) => {
      const place = await makePlace(engine)
      const clean = await course(place, 'clean', shape)
      expect(clean.complaints).toEqual([])
      expect(clean.told).toEqual([
        [
          ['before', 'before, before you end', 'before, next time'],
          ['one'],
          ['before', 'one'],
          ['two'],
          ['one, before you end', 'two', 'two, before you end'],
        ],
      ])
      const every = Array.from({ length: clean.commits }, (_, i) => (['before', 'after'] as const).map((when) => ({ at: i + 1, when })))
      // An odd share has deaths before and after a commit.
      const deaths = share(every.flat(), engine === 'sqlite' ? 9 : 19)
      const wrong: string[] = []
      let [lives, later] = [0, 0]
      for (const [i, death] of deaths.entries()) {
        const { told, complaints } = await course(place, `t${i}`, shape, death)
        wrong.push(...complaints.map((why) => `died ${death.when} commit ${death.at}: ${why}`))
        lives += told.length
        later += JSON.stringify(told.at(-1)).includes('after life 1') ? 1 : 0
      }
      expect(wrong).toEqual([])
      // The controls: they did die, and what was said meanwhile was heard by those who went on.
      expect(lives).toBeGreaterThan(deaths.length * 1.4)
      expect(later).toBeGreaterThan(deaths.length / 3)
    },
  )

  test('the checker finds a turn that acts on inputs before they are recorded', async () => {
    const place = await makePlace(engine)
    const death: Death = { at: 3, when: 'before' }
    const hasty = await course(place, 'hasty', 'opened by its program', death, unrecorded)
    expect(hasty.complaints).toEqual([expect.stringContaining('life 1 was told')])
    expect((await course(place, 'honest', 'opened by its program', death)).complaints).toEqual([])
  })
})
