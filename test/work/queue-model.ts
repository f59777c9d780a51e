// A queue as a few lines of arithmetic: what is in it, in which order it is taken, who holds what and until when. It knows no store; what it expects
// is held against one.

export type Who = 'ada' | 'bob'

/** A claim in somebody's hand. Told that it is lost or settled, it is over. */
export interface Hand {
  readonly item: Item
  readonly leaseMs: number
  isOver: boolean
  /** A newer holder has the item, or it is gone. */
  isLost: boolean
}

export interface Offered {
  readonly priority: number
  readonly group: string | undefined
  readonly attempts: number
  readonly backoffMs: number
}

export interface Item extends Offered {
  readonly id: string
  readonly payload: number
  /** Grows with every offer: older comes first. */
  born: number
  state: 'ready' | 'claimed' | 'dead'
  attempt: number
  /** When it is due, or its claim runs out, as the store told it; `sought` is where that has to lie. */
  at: number
  sought: { readonly from: number; readonly to: number } | undefined
  /** Until when its claim was renewed. */
  renewed: number
  hand: Hand | undefined
}

export type Why = { readonly why: 'empty' | 'blocked' } | { readonly why: 'notDue'; readonly at: number }

export class Model {
  now = 0
  /** How much later than expected the store may find its times: its clock goes on by itself. */
  readonly slackMs: number
  items: Item[] = []
  readonly hands: Hand[] = []
  /** Every id there ever was. */
  readonly known: string[] = []
  readonly cancelled = new Set<string>()
  readonly keys = new Map<string, { readonly id: string; readonly payload: number }>()
  readonly done: string[] = []
  fence = 0
  /** How often somebody was told that what they held is not theirs any more. */
  refusals = 0
  #born = 0

  constructor(slackMs: number) {
    this.slackMs = slackMs
  }

  find(id: string): Item | undefined {
    return this.items.find((item) => item.id === id)
  }

  offered(id: string, payload: number, offered: Offered, delayMs: number): Item {
    const item: Item = {
      ...offered,
      id,
      payload,
      born: ++this.#born,
      state: 'ready',
      attempt: 0,
      at: 0,
      sought: undefined,
      renewed: 0,
      hand: undefined,
    }
    this.items.push(item)
    this.known.push(id)
    this.#due(item, delayMs)
    return item
  }

  /** What may be taken now, in order. Of a group only the oldest that is not dead. */
  claimable(): readonly Item[] {
    const isHead = ({ group, born }: Item) =>
      group === undefined || !this.items.some((other) => other.group === group && other.state !== 'dead' && other.born < born)
    const isFree = ({ state, at, renewed }: Item) => state !== 'dead' && at <= this.now && (state === 'ready' || renewed <= this.now)
    return this.items
      .filter((item) => isFree(item) && isHead(item))
      .sort((a, b) => b.priority - a.priority || a.at - b.at || a.born - b.born)
  }

  /** The next to take; who died with its last attempt is buried on the way. */
  next(): Item | undefined {
    for (let buried = true; buried; ) {
      buried = false
      for (const item of this.claimable()) {
        if (item.state === 'ready' || item.attempt < item.attempts) return item
        this.#dies(item)
        buried = true
      }
    }
    return undefined
  }

  why(): Why {
    const alive = this.items.filter(({ state }) => state !== 'dead')
    if (alive.some(({ state, at }) => state === 'claimed' || at <= this.now)) return { why: 'blocked' }
    return alive.length === 0 ? { why: 'empty' } : { why: 'notDue', at: Math.min(...alive.map(({ at }) => at)) }
  }

  claimed(item: Item, leaseMs: number): Hand {
    const hand = { item, leaseMs, isOver: false, isLost: false }
    Object.assign(item, { state: 'claimed', attempt: item.attempt + 1, hand, renewed: 0 })
    item.sought = { from: this.now + leaseMs, to: this.now + leaseMs + this.slackMs }
    this.hands.push(hand)
    return hand
  }

  isCurrent(hand: Hand): boolean {
    return !hand.isOver && this.items.includes(hand.item) && hand.item.hand === hand
  }

  completed({ item }: Hand): void {
    this.gone(item)
    this.done.push(item.id)
  }

  /** Tried again, or dead where there are no attempts left. */
  givenBack({ item }: Hand, delayMs: number, final = false): 'ready' | 'dead' {
    if (final || item.attempt >= item.attempts) this.#dies(item)
    else {
      item.hand = undefined
      item.state = 'ready'
      this.#due(item, delayMs)
    }
    return item.state as 'ready' | 'dead'
  }

  redriven(item: Item): void {
    Object.assign(item, { state: 'ready', attempt: 0, born: ++this.#born })
    item.sought = { from: this.now, to: this.now + this.slackMs }
  }

  gone(item: Item): void {
    this.items = this.items.filter((other) => other !== item)
  }

  /** What is due at once is due by the clock of whoever says so, which may be behind, and never ahead. */
  #due(item: Item, delayMs: number): void {
    item.sought = { from: delayMs === 0 && this.slackMs > 0 ? 0 : this.now + delayMs, to: this.now + delayMs + this.slackMs }
  }

  #dies(item: Item): void {
    Object.assign(item, { state: 'dead', hand: undefined, at: 0, sought: undefined })
  }
}
