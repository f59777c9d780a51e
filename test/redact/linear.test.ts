// No text may stop the journal. The ratio itself is a measurement and belongs to the bench; this only catches a catastrophe.
import { expect, test } from 'vitest'
import { redactor } from '../../src/kernel/redact/redactor.ts'
import { share } from '../support/rounds.ts'
import { streamInPieces, worstTexts } from './linear.ts'

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
