// What a workload is, what it finds, and how that is shown: ours, the peer, their ratio and its spread, the goal, and whether it is met.

import type { Spread } from './stats.ts'
import { number, table } from './table.ts'

export interface Settings {
  readonly quick: boolean
  readonly rounds: number
  readonly peers: boolean
  /** A folder for files, removed at the end. */
  readonly folder: string
  /** Where the large files lie, or shall be kept. */
  readonly files: string
  readonly say: (line: string) => void
}

export interface Measure {
  readonly what: string
  readonly unit: string
  readonly ours: Spread
  readonly peer?: Spread
  readonly peerName?: string
  /** Ours ÷ peer, round by round. */
  readonly ratio?: Spread
  readonly goal?: Goal
}

export interface Goal {
  readonly text: string
  readonly met: boolean
}

export interface Findings {
  readonly measures: readonly Measure[]
  /** Settings and what to keep in mind when reading the numbers. */
  readonly notes: readonly string[]
}

export interface Workload {
  readonly name: string
  readonly title: string
  readonly needsPeers?: boolean
  run(settings: Settings): Promise<Findings>
}

/** `judged` is the median of the ratio, or of ours where there is no peer. */
export const atLeast = (limit: number, judged: Spread, unit = '×'): Goal => ({
  text: `≥ ${limitText(limit, unit)}`,
  met: judged.median >= limit,
})
export const atMost = (limit: number, judged: Spread, unit = '×'): Goal => ({
  text: `≤ ${limitText(limit, unit)}`,
  met: judged.median <= limit,
})

const limitText = (limit: number, unit: string): string => `${limit >= 1000 ? number(limit) : limit} ${unit}`

export function show({ measures, notes }: Findings): string {
  const head = ['', 'ours', '', 'peer', '', 'ratio', 'goal', '']
  const rows = measures.map((m) => [
    m.what,
    number(m.ours.median),
    range(m.ours, m.unit),
    m.peer ? number(m.peer.median) : '–',
    m.peer ? range(m.peer, m.peerName ?? '') : '',
    m.ratio ? `${number(m.ratio.median)} × (${number(m.ratio.least)}–${number(m.ratio.most)})` : '–',
    m.goal?.text ?? '–',
    m.goal ? (m.goal.met ? 'ok' : 'below') : '',
  ])
  return [table([head, ...rows]), ...notes.map((note) => `  · ${note}`)].join('\n')
}

const range = (s: Spread, unit: string): string => `(${number(s.least)}–${number(s.most)}) ${unit}`
