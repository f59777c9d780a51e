// A run dies between any two of its commits, before the save and after it, and somebody else goes on: each outcome is recorded once, the result
// is the same, and nothing is done again but what was in doubt.

import { describe, expect, test } from 'vitest'
import type { Backend } from '../../src/ports/backend.ts'
import type { Run, Store } from '../../src/index.ts'
import { expectTenantSound } from './sound.ts'
import { errand, Outbox, parcel, people } from './errand.ts'
import { type Death, mortal, PLACES, type Place } from './lives.ts'
import { complaints, inDoubt, type Recorded, readJournal } from './verdict.ts'

/** How a program gets its run: a node takes it up, or it opens it itself. */
type Shape = 'taken up by a node' | 'opened by the program'

interface Ended {
  readonly result: unknown
  readonly recorded: Recorded
  readonly outbox: Outbox
  readonly doubted: ReadonlySet<string>
  readonly commits: number
  readonly lives: number
}

const LEASE_MS = 30_000
const SESSION = 'support/4711'

/** Lives as often as needed; `deaths` says how the first ones end. */
async function untilDone(place: Place, world: Store, shape: Shape, deaths: readonly Death[], around = (backend: Backend) => backend): Promise<Ended> {
  const outbox = new Outbox()
  const doubted = new Set<string>()
  const stop = people(world, SESSION)
  const first = await begin(world, shape)
  let commits = 0
  let lives = 0
  for (let ended = false; !ended; lives++) {
    const backend = await place.backend()
    const life = mortal(around(backend), deaths[lives])
    const isDead = () => life.dead
    const body = place.open(life.backend).then((store) => liveOnce(store.tenant(world.tenantId), shape, outbox, isDead))
    const done = await Promise.race([Promise.all([first(), body]).then(() => true), life.died.then(() => false)])
    commits = life.commits
    ended = done
    if (done) await (await body).close()
    else {
      await backend.close()
      for (const attempt of inDoubt(outbox.sent, await readJournal(world))) doubted.add(attempt)
      await place.pass(LEASE_MS + 1)
    }
  }
  await stop()
  const [run] = (await world.runs.list({ name: 'errand' })).items
  const result = await (await world.runs.handle(run?.id ?? '')).result()
  await expectTenantSound(world)
  return { result, recorded: await readJournal(world), outbox, doubted, commits, lives }
}
