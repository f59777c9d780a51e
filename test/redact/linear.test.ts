// No text may stop the journal. The ratio itself is a measurement and belongs to the bench; this only catches a catastrophe.
import { expect, test } from 'vitest'
import { redactor } from '../../src/kernel/redact/redactor.ts'
import { worstTexts } from './linear.ts'

test('128 KiB of the worst text we know of is redacted in less than two seconds of CPU', () => {
  const redact = redactor({ values: ['correct horse battery'] }, () => '00000000')
  for (const [name, text] of worstTexts(128 * 1024)) {
    // CPU time, because a busy machine gives this thread only a share of a core.
    const before = process.threadCpuUsage()
    redact.text(text)
    const { user, system } = process.threadCpuUsage(before)
    expect((user + system) / 1000, name).toBeLessThan(2000)
  }
})
