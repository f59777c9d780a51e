// The life of a run as a few lines of arithmetic: which states it can be in, who holds it, what it asked for and what came of that. It knows no
// store; what it expects is held against one.

import { RUN_MOVES, type RunState } from '../../src/model/run.ts'

export type Who = 'ada' | 'bob'
export const LEASE_MS = 30_000

export type Outcome = { readonly value: unknown } | { readonly code: string }

/** Something the program asked for. It has come to an end, or it is what the program is waiting for. */
export interface Asked {
  readonly kind: 'effect' | 'sleep' | 'signal' | 'ask' | 'unknown'
  /** What the work would give, or the wait's answer. */
  readonly n: number
  /** Of an effect: its work throws. Of a wait: how long at most. */
  readonly fails?: boolean
  readonly within?: number | undefined
  readonly until?: number | undefined
  outcome?: Outcome
}

/** Taken over without knowing it, a hand is lost; closed, or told so, it is none. */
export type Hand = 'none' | 'live' | 'lost'

export class Model {
  state: RunState | 'none' = 'none'
  attempt = 0
  holder: Who | undefined
  heldUntil = 0
  now = 0
  readonly hands: Record<Who, Hand> = { ada: 'none', bob: 'none' }
  script: Asked[] = []
  signals: number[] = []
  /** An effect may have happened, and a person is asked about it. */
  wondering = false
  /** The question that is open, and what was said to it. */
  question: { until: number | undefined; said?: Outcome } | undefined

  get isOver(): boolean {
    return this.state !== 'none' && RUN_MOVES[this.state].length === 0
  }

  /** What the program is waiting for. */
  get waiting(): Asked | undefined {
    const last = this.script.at(-1)
    return last && !last.outcome ? last : undefined
  }

  get isHeld(): boolean {
    return this.holder !== undefined && this.heldUntil > this.now
  }

  canAsk(who: Who): boolean {
    return this.hands[who] === 'live' && !this.waiting && !this.isOver
  }

  taken(who: Who): void {
    if (this.holder && this.holder !== who && this.hands[this.holder] === 'live') this.hands[this.holder] = 'lost'
    this.holder = who
    this.heldUntil = this.now + LEASE_MS
    this.hands[who] = 'live'
    this.attempt++
    // Whoever held it was in the middle of something that may have happened.
    if (this.waiting?.kind === 'unknown') this.wondering = true
    this.move(this.waiting ? 'waiting' : 'running')
  }

  asked(asked: Asked): void {
    this.script.push(asked)
    if (asked.kind === 'ask') this.question = { until: asked.until }
    if (asked.kind !== 'unknown' && !asked.outcome) this.move('waiting')
  }

  /** What the program waits for may have come: then it goes on. Nothing happens to a run that nobody holds. */
  settle(): void {
    const { waiting, holder } = this
    if (!waiting || this.isOver || !holder || this.hands[holder] !== 'live') return
    const late = waiting.until !== undefined && waiting.until <= this.now
    const signal = waiting.kind === 'signal' ? this.signals.shift() : undefined
    if (signal !== undefined) this.answered({ value: signal })
    else if (this.question?.said) this.answered(this.question.said)
    else if (late) this.answered({ value: undefined })
  }

  answered(outcome: Outcome): void {
    if (!this.waiting) throw new Error('the model answered nothing')
    this.waiting.outcome = outcome
    this.wondering = false
    this.question = undefined
    this.move('running')
  }

  move(to: RunState): void {
    if (this.state !== 'none' && !RUN_MOVES[this.state].includes(to)) throw new Error(`the model moved from ${this.state} to ${to}`)
    this.state = to
    if (this.isOver) this.question = undefined
  }

  /** Given back, if it was there to give. */
  left(who: Who): void {
    if (this.hands[who] === 'live') this.holder = undefined
    this.hands[who] = 'none'
  }
}
