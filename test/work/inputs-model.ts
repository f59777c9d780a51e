// What was said to a session, as a few lines of arithmetic: which turn each input is for, who has it, what became of it. It knows no store; what it
// expects is held against one.

export type Who = 'ada' | 'bob'
export const LEASE_MS = 30_000

export type State = 'pending' | 'deferred' | 'accepted' | 'completed' | 'cancelled'

export interface Said {
  readonly n: number
  readonly key: string | undefined
  readonly boundary: 'afterWork' | 'beforeCompletion'
  /** As it was asked for. */
  readonly to: 'active' | 'next'
  state: State
  /** The number of the turn it is for, or that took it. */
  turn: number | undefined
}

export interface Take {
  readonly from: 'active' | 'next'
  readonly boundary: 'afterWork' | 'beforeCompletion'
  readonly most: number
}

/** A turn of the session: what it asked for and was told. Taken over without knowing it, a hand is lost. */
export interface Turn {
  readonly number: number
  over: boolean
  readonly script: { readonly take: Take; readonly told: readonly number[] }[]
}

export class Model {
  now = 0
  readonly said: Said[] = []
  readonly turns: Turn[] = []
  /** Who holds the session's lease, and until when. */
  holder: Who | undefined
  heldUntil = 0
  readonly hands: Record<Who, 'none' | 'live' | 'lost'> = { ada: 'none', bob: 'none' }

  /** One turn at a time: the last one, as long as it is not over. */
  get turn(): Turn | undefined {
    const last = this.turns.at(-1)
    return last && !last.over ? last : undefined
  }

  get isHeld(): boolean {
    return this.holder !== undefined && this.heldUntil > this.now
  }

  opened(who: Who): Turn {
    const turn = this.turn ?? { number: this.turns.length + 1, over: false, script: [] }
    if (!this.turn) this.turns.push(turn)
    if (this.holder && this.holder !== who && this.hands[this.holder] === 'live') this.hands[this.holder] = 'lost'
    this.holder = who
    this.heldUntil = this.now + LEASE_MS
    this.hands[who] = 'live'
    return turn
  }

  left(who: Who): void {
    if (this.hands[who] === 'live') this.holder = undefined
    this.hands[who] = 'none'
  }

  say(n: number, key: string | undefined, boundary: Said['boundary'], to: 'active' | 'next'): Said {
    const turn = to === 'active' ? this.turn?.number : undefined
    const said: Said = { n, key, boundary, to, turn, state: turn === undefined ? 'deferred' : 'pending' }
    this.said.push(said)
    return said
  }

  take(take: Take): readonly number[] {
    const { turn } = this
    if (!turn) throw new Error('the model has no turn')
    const admitted = this.said.filter((said) =>
      take.from === 'next'
        ? said.state === 'deferred'
        : said.state === 'pending' && said.turn === turn.number && (said.boundary === 'afterWork' || take.boundary === 'beforeCompletion'),
    )
    const taken = admitted.slice(0, take.most)
    for (const said of taken) {
      said.state = 'accepted'
      said.turn = turn.number
    }
    const told = taken.map(({ n }) => n)
    turn.script.push({ take, told })
    return told
  }

  end(how: 'finish' | 'fail' | 'cancel'): void {
    const { turn } = this
    if (!turn) throw new Error('the model has no turn')
    turn.over = true
    for (const said of this.said.filter((one) => one.turn === turn.number)) {
      if (said.state === 'pending' || (said.state === 'accepted' && how === 'fail')) {
        said.state = 'deferred'
        said.turn = undefined
      } else if (said.state === 'accepted') said.state = 'completed'
    }
  }

  cancel(said: Said | undefined): string {
    if (!said) return 'notFound'
    const { state } = said
    if (state !== 'pending' && state !== 'deferred') return `already${state.charAt(0).toUpperCase()}${state.slice(1)}`
    said.state = 'cancelled'
    return 'cancelled'
  }
}
