// The events that branches of a race append. Such an event does not name its branch, so `race.won` lists those of the losers: they stay in the
// journal, and replay, which does not run the losers again, counts them as asked for.

import { toRanges } from '../../../reading/seq-ranges.ts'
import { type Asked, entryKey, placeOf } from './call.ts'
import { LostPlaces } from './lost-places.ts'

/** Events of one type that were asked for through one handle, by their ordinals. */
export interface LeftAppends {
  readonly branch: string
  readonly name: string
  readonly ordinals: readonly (readonly [number, number])[]
}

const isUnder = (path: string, branch: string): boolean => path === branch || path.startsWith(`${branch}/`)

interface Decision {
  readonly losers: readonly string[]
  readonly made: Promise<void>
}

/** One for all handles on a run in this process. */
export class RaceAppends {
  readonly #asked = new Map<string, { readonly asked: Asked; readonly places: readonly string[] }>()
  readonly #deciding = new Set<Decision>()
  readonly #lost = new LostPlaces()

  /** `path` is the branch whose code asks. It may use the handle of another one, such as the run's. */
  note(asked: Asked, path: string): void {
    const places = [asked.branch, path].map((branch) => placeOf(branch, asked.epoch))
    if (asked.branch !== '' || path !== '') this.#asked.set(entryKey(asked), { asked, places })
  }

  /** Called right before the event is written; false if its branch has lost. Waits while that is being decided. */
  mayAppend(asked: Asked): Promise<boolean> {
    return this.#mayGoOn(this.#asked.get(entryKey(asked))?.places ?? [])
  }

  /** Called right before an effect of this branch begins or is recorded; false if the branch has lost. Waits while that is being decided. */
  mayGoOn(place: string): Promise<boolean> {
    return this.#mayGoOn([place])
  }

  async #mayGoOn(places: readonly string[]): Promise<boolean> {
    for (;;) {
      const deciding = [...this.#deciding].find(({ losers }) => isAmong(places, losers))
      if (!deciding) return !places.some((place) => this.#lost.has(place))
      await deciding.made
    }
  }

  /** Writes who won, with the events of the losers, which are named by their places. Losers ask for no more from here on, unless the write fails. */
  async decide<T>(losers: readonly string[], write: (left: readonly LeftAppends[]) => Promise<T>): Promise<T> {
    const { promise: made, resolve } = Promise.withResolvers<void>()
    const deciding: Decision = { losers, made }
    this.#deciding.add(deciding)
    try {
      const written = await write(this.#of(losers))
      for (const loser of losers) this.#lost.add(loser)
      return written
    } finally {
      this.#deciding.delete(deciding)
      resolve()
    }
  }

  /** Forgets the events of earlier epochs: their races are decided, and nothing more is appended in them. */
  startEpoch(epoch: number): void {
    for (const [key, { asked }] of this.#asked) if ((asked.epoch ?? 0) < epoch) this.#asked.delete(key)
  }

  #of(losers: readonly string[]): readonly LeftAppends[] {
    const left = [...this.#asked.values()].filter(({ places }) => isAmong(places, losers)).map(({ asked }) => asked)
    return [...Map.groupBy(left, ({ branch, name }) => `${branch}\n${name}`).values()].map((alike) => {
      const { branch, name } = alike[0] as Asked
      return { branch, name, ordinals: toRanges(alike.map(({ ordinal }) => ordinal).sort((a, b) => a - b)) }
    })
  }
}

const isAmong = (places: readonly string[], branches: readonly string[]): boolean =>
  places.some((place) => branches.some((branch) => isUnder(place, branch)))

export function* slotsOf(left: readonly LeftAppends[], epoch: number): Generator<Asked> {
  for (const { branch, name, ordinals } of left)
    for (const [from, to] of ordinals)
      for (let ordinal = from; ordinal <= to; ordinal++) yield { branch, kind: 'append', name, ordinal, epoch }
}
