// What redaction costs on the payloads it meets every day, and on the worst texts we know: twice the text may not cost much more than
// twice the CPU time.

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { redactor } from '../../src/redact/redactor.ts'
import { tagger } from '../../src/redact/tagger.ts'
import { type Linear, MOST, measureLinear, streamInPieces, time } from '../../test/redact/linear.ts'
import { spread } from '../lib/stats.ts'
import { atMost, type Findings, type Settings, type Workload } from '../lib/workload.ts'
import { payload } from './payload.ts'

const KIB = 1024

export const redaction: Workload = {
  name: 'redactor',
  title: 'the redactor',
  run: async ({ quick, rounds }: Settings): Promise<Findings> => {
    const redact = redactor(
      {},
      tagger((bytes) => hash('sha256', bytes, 'buffer'), new Uint8Array(32)),
    )
    const events = Array.from({ length: 256 }, (_, i) => payload(i))
    const prose = read('README.md', 16 * KIB)
    const code = read('journal/load.ts', 16 * KIB)
    const cases = [
      {
        what: 'typical payload',
        bytes: events.reduce((sum, e) => sum + JSON.stringify(e).length, 0),
        work: () => events.map((e) => redact.value(e)),
      },
      { what: 'prose', bytes: prose.length, work: () => redact.text(prose) },
      { what: 'code', bytes: code.length, work: () => redact.text(code) },
      { what: 'prose, streamed in pieces', bytes: prose.length, work: () => streamInPieces(prose) },
    ]
    for (const { work } of cases) time(work, 100)
    const found = cases.map((): number[] => [])
    for (let round = 0; round < rounds; round++) {
      for (const [i, { bytes, work }] of cases.entries()) found[i]?.push((time(work, 60) * 1000 * KIB) / bytes)
    }

    const size = (quick ? 32 : 64) * KIB
    const worst = measureLinear(quick ? 1 : 3, undefined, size)
    const most = (of: (l: Linear) => number) => worst.reduce((a, b) => (of(b) > of(a) ? b : a))
    const slowest = most((l) => l.large)
    const steepest = most((l) => l.ratio)
    const ratio = spread(worst.map((l) => l.ratio))
    const streams = measureLinear(quick ? 1 : 3, undefined, size, streamInPieces)
    const steepestStream = streams.reduce((a, b) => (b.ratio > a.ratio ? b : a))
    const streamRatio = spread(streams.map((l) => l.ratio))
    return {
      measures: [
        ...cases.map(({ what }, i) => ({ what, unit: 'µs/KiB', ours: spread(found[i] as number[]) })),
        { what: `${worst.length} worst texts`, unit: 'µs/KiB', ours: spread(worst.map((l) => (l.large * 1000 * KIB) / (2 * size))) },
        {
          what: `${(2 * size) / KIB} KiB ÷ ${size / KIB} KiB, over the worst texts`,
          unit: '×',
          ours: ratio,
          goal: { ...atMost(MOST, ratio), met: ratio.most <= MOST },
        },
        {
          what: 'the same, streamed in pieces',
          unit: '×',
          ours: streamRatio,
          goal: { ...atMost(MOST, streamRatio), met: streamRatio.most <= MOST },
        },
      ],
      notes: [
        `slowest of the worst: ${slowest.name}, ${((slowest.large * 1000 * KIB) / (2 * size)).toFixed(0)} µs/KiB; steepest: ${steepest.name}, ${steepest.ratio.toFixed(2)} ×`,
        `steepest stream: ${steepestStream.name}, ${steepestStream.ratio.toFixed(2)} ×`,
        'the goal for twice the text is judged by the steepest text, not by the median',
      ],
    }
  },
}

const read = (file: string, chars: number): string => {
  const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
  return text.repeat(Math.ceil(chars / text.length)).slice(0, chars)
}
