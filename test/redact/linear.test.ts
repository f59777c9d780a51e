// No text may stop the journal. The ratio itself is a measurement and belongs to the bench; this only catches a catastrophe.
import { expect, test } from 'vitest'
import { redactor } from '../../src/redact/redactor.ts'
import { share } from '../support/rounds.ts'
import { streamInPieces, time, worstTexts } from './linear.ts'

const redact = redactor({ values: ['correct horse battery'] }, () => '00000000')

test.each([
  ['redacted', (text: string) => redact.text(text)],
  ['streamed', streamInPieces],
])('128 KiB of the worst text we know of is %s in less than two seconds of CPU', (_, work) => {
  for (const [name, text] of share([...worstTexts(128 * 1024)], 4)) {
    // CPU time, because a busy machine gives this thread only a share of a core.
    const before = process.threadCpuUsage()
    work(text)
    const { user, system } = process.threadCpuUsage(before)
    expect((user + system) / 1000, name).toBeLessThan(2000)
  }
})

test.each(['sig=', 'pin=', 'pin:=', 'pwd=/', 'auth='])('a value full of the names %s is not read again for each of them', (unit) => {
  const small = unit.repeat(16_384)
  const large = unit.repeat(8 * 16_384)
  for (let warm = 0; warm < 3; warm++) redact.text(small)
  const least = (text: string) => Math.min(...[1, 2, 3].map(() => time(() => redact.text(text))))
  // Eight times the text: a quadratic rule takes more than 30 times as long.
  expect(least(large) / least(small)).toBeLessThan(18)
})
