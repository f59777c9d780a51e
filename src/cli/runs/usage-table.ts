// A table of usage: labels, counts and costs, with a total below.

import type { UsageCounts } from '../../index.ts'
import { count } from '../format.ts'
import { type Column, printTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { COUNTS, dollars, totalOf } from './text.ts'

export interface Counted {
  readonly labels: readonly string[]
  readonly counts: UsageCounts
}

const NUMBERS: readonly Column[] = ['input', 'output', 'cache read', 'cache write', 'reasoning', 'cost'].map((title) => ({
  title,
  right: true,
}))

/** The word `total` stands in the last of the label columns. */
export function printCounts(t: Terminal, labels: readonly Column[], rows: readonly Counted[]): void {
  const total = totalOf(rows.map(({ counts }) => counts))
  const cells = rows.map((row) => [
    ...row.labels,
    ...COUNTS.map((name) => count(row.counts[name])),
    dollars(BigInt(row.counts.costNanoUsd)),
  ])
  const sum = [...labels.slice(1).map(() => ''), 'total', ...COUNTS.map((name) => count(total[name])), dollars(total.costNanoUsd)]
  printTable(t, [...labels, ...NUMBERS], labels.length > 0 && rows.length > 1 ? [...cells, sum] : cells)
}
