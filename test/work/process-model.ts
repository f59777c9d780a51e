// The life of a process as a few lines of arithmetic: what was said of it, who holds it, who has a handle on it. It knows no store; what it
// expects is held against one.

import { type Ending, hasEnded, type ProcessState } from '../../src/model/process.ts'

export type Who = 'ada' | 'bob'
export const LEASE_MS = 30_000

export type Outcome = { readonly value: unknown } | { readonly code: string }
export const fine = (value: unknown = 'fine'): Outcome => ({ value })
const refused = (code: string): Outcome => ({ code })

export interface Said {
  readonly type: string
  readonly n?: number
  readonly key?: string | undefined
}

interface Life {
  readonly definition: number
  state: ProcessState
  started?: string
  wait?: string
  cancel?: string
  abandon?: string
  reference?: string
  outcome?: { readonly state: Ending; readonly n: number }
  endedAt: number
  readonly said: Said[]
}

/** `live` until somebody takes it over or it has ended; `gone` once what it was a hand on is no more. */
export type Hand = 'none' | 'live' | 'lost' | 'gone'

export class Model {
  now = 0
  life: Life | undefined
  holder: Who | undefined
  heldUntil = 0
  /** Wake-ups that lie in the inbox: of every end, and of words with an even number. */
  woken = 0
  readonly hands: Record<Who, Hand> = { ada: 'none', bob: 'none' }
  readonly grants = new Map<Who, number>()

  get isOver(): boolean {
    return this.life !== undefined && hasEnded(this.life.state)
  }

  register(definition: number): Outcome {
    if (this.life) return this.life.definition === definition ? fine() : refused('PROCESS_DIFFERS')
    this.life = { definition, state: 'pending', endedAt: 0, said: [] }
    return fine()
  }

  /** What is refused whatever is asked: it is not there, it has ended, or somebody else has it. `none` is everybody's hand. */
  #barred(hand: Hand): Outcome | undefined {
    if (!this.life || hand === 'gone') return refused('PROCESS_UNKNOWN')
    if (this.isOver) return refused('PROCESS_FINISHED')
    return hand === 'lost' ? refused('FENCE_LOST') : undefined
  }

  say(hand: Hand, said: Said): Outcome {
    const known = hand === 'gone' ? undefined : this.#keyed(said)
    if (known) return known
    const barred = this.#barred(hand)
    if (barred) return barred
    this.life?.said.push(said)
    if ((said.n ?? 1) % 2 === 0) this.woken++
    return fine()
  }

  #keyed({ type, n, key }: Said): Outcome | undefined {
    const known = key === undefined ? undefined : this.life?.said.find((one) => one.key === key)
    return known && (known.type === type && known.n === n ? fine('repeated') : refused('KEY_REUSED'))
  }

  end(hand: Hand, who: Who, state: Ending, n: number, key: string | undefined): Outcome {
    const told = this.say(hand, { type: `process.${state}`, n: -1 - 2 * n, key })
    if (!this.life || !('value' in told) || told.value === 'repeated') return told
    Object.assign(this.life, { state, outcome: { state, n }, endedAt: this.now, wait: undefined })
    this.woken++
    this.holder = undefined
    if (hand === 'live') this.hands[who] = 'lost'
    return told
  }

  /** Recorded once: whoever is second changes nothing, and is told what there is. */
  once(hand: Hand, what: 'started' | 'cancel' | 'abandon', word: string): Outcome {
    if (this.life && hand !== 'gone' && this.life[what] !== undefined && (what === 'started' || !this.isOver)) return fine(this.life[what])
    const barred = this.#barred(hand)
    if (barred || !this.life) return barred as Outcome
    this.life[what] = word
    if (what !== 'started') this.life.said.push({ type: `process.${what}-requested` })
    else this.life.state = this.life.wait ? 'waiting' : 'running'
    return fine(word)
  }

  wait(hand: Hand, word: string | undefined): Outcome {
    if (this.life && !this.isOver && hand !== 'gone' && this.life.wait === word) return fine()
    const barred = this.#barred(hand)
    if (barred || !this.life) return barred as Outcome
    this.life.wait = word as string
    this.life.state = word ? 'waiting' : this.life.started ? 'running' : 'pending'
    this.life.said.push({ type: word ? 'process.waiting' : 'process.resumed' })
    return fine()
  }

  refer(hand: Hand, id: string): Outcome {
    if (this.life?.reference !== undefined && hand !== 'gone') return this.life.reference === id ? fine() : refused('PROCESS_REFERENCE_SET')
    const barred = this.#barred(hand)
    if (barred || !this.life) return barred as Outcome
    this.life.reference = id
    return fine()
  }

  claim(who: Who): Outcome {
    if (!this.life) return refused('PROCESS_UNKNOWN')
    if (this.isOver) return refused('PROCESS_FINISHED')
    if (this.holder === who) return fine()
    if (this.holder && this.heldUntil > this.now) return refused('PROCESS_HELD')
    if (this.holder && this.hands[this.holder] === 'live') this.hands[this.holder] = 'lost'
    this.holder = who
    this.heldUntil = this.now + LEASE_MS
    this.hands[who] = 'live'
    return fine()
  }

  release(who: Who): void {
    if (this.hands[who] === 'live' && this.holder === who) this.holder = undefined
    this.hands[who] = 'none'
  }

  give(to: Who, label: number): Outcome {
    if (!this.life) return refused('PROCESS_UNKNOWN')
    this.grants.set(to, label)
    return fine()
  }

  revoke(from: Who): Outcome {
    return this.life ? fine(this.grants.delete(from)) : refused('PROCESS_UNKNOWN')
  }

  transfer(from: Who, to: Who): Outcome {
    if (!this.life) return refused('PROCESS_UNKNOWN')
    const label = this.grants.get(from)
    if (label === undefined) return refused('PROCESS_NOT_GRANTED')
    this.grants.delete(from)
    this.grants.set(to, label)
    return fine()
  }

  prune(before: number): Outcome {
    if (!this.life || !this.isOver || this.life.endedAt >= before) return fine({ processes: 0, events: 0, grants: 0 })
    const report = { processes: 1, events: this.life.said.length, grants: this.grants.size }
    this.life = undefined
    this.grants.clear()
    for (const who of ['ada', 'bob'] as const) if (this.hands[who] !== 'none') this.hands[who] = 'gone'
    return fine(report)
  }
}
