// A history of a lease, as those who contend for it lived through it, and what is wrong with it. Whatever was written has its place in the
// journal, and that is the order everything is held against: at every place one holder, the newest, and no other.

interface Moment {
  readonly who: string
  /** Under which fence. */
  readonly fence: number
  /** When it was asked for and when the answer came, by one clock for all. */
  readonly from: number
  readonly to: number
}

export type Happening =
  | (Moment & { readonly what: 'took' | 'wrote' | 'released'; readonly seq: number })
  /** Told that the fence is not the newest. */
  | (Moment & { readonly what: 'refused' })
  /** Holds on; `found` is the fence that the store answered with. */
  | (Moment & { readonly what: 'renewed'; readonly found: number })

type Placed = Extract<Happening, { readonly seq: number }>

/** Empty when the lease was one: as if everything had happened one after the other, each at one moment between asking and answer. */
export function faultsOf(history: readonly Happening[]): readonly string[] {
  const placed = history.filter((one): one is Placed => 'seq' in one).sort((a, b) => a.seq - b.seq)
  const grants = placed.filter(({ what }) => what !== 'wrote')
  const taken = placed.filter(({ what }) => what === 'took')
  const wrong: string[] = []
  const say = (why: string, { who, what, fence }: Happening) => wrong.push(`${why}: ${who} ${what} under ${fence}`)

  for (const [i, one] of taken.entries()) {
    if (one.fence !== one.seq) say('a fence that is not the place of its grant', one)
    if (i > 0 && one.fence <= (taken[i - 1] as Placed).fence) say('a fence that did not grow', one)
  }
  for (const one of placed) {
    if (one.what === 'took') continue
    const newest = grants.findLast(({ seq }) => seq < one.seq)
    if (newest?.what !== 'took' || newest.fence !== one.fence) say('written under a fence that was not the newest', one)
    else if (newest.who !== one.who) say('written by somebody who did not take it', one)
  }
  for (const [i, one] of placed.entries())
    for (const next of placed.slice(i + 1)) if (next.to < one.from) say('placed after something that was asked for later', next)
  for (const one of history) {
    // Grants that were over before it was asked, and those that had begun before it was answered.
    const sure = grants.filter(({ to, seq }) => to < one.from && seq > one.fence)
    const perhaps = grants.filter(({ from, seq }) => from < one.to && seq > one.fence)
    if (one.what === 'renewed' && one.found === one.fence && sure.length > 0) say('a lease that was revived', one)
    if (one.what === 'refused' && perhaps.length === 0) say('refused for nothing', one)
  }
  return wrong
}
