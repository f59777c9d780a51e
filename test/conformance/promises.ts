// Every promise of the backend port as a test of one backend, and a look at what was skipped.

import { describe, expect, test } from 'vitest'
import { cases, runCase } from '../../src/conformance/index.ts'
import type { Engine } from './support.ts'

export function keepsItsPromises({ name, open, awaiting, skips = {} }: Engine): void {
  describe(name, () => {
    for (const one of cases) {
      const sentence = `${one.group}: ${one.name}`
      const run = awaiting.includes(one.name) ? test.fails : test
      run(sentence, async ({ skip }) => {
        const reason = skips[one.name]
        if (reason !== undefined) skip(reason)
        const result = await runCase(one, open)
        if (result.status === 'failed') throw result.error
        if (result.status === 'skipped') skip(result.reason)
      })
    }

    test('is asked for nothing that the suite does not have', () => {
      const known = new Set(cases.map((one) => one.name))
      expect([...awaiting, ...Object.keys(skips)].filter((sentence) => !known.has(sentence))).toEqual([])
    })

    test('skips only what it cannot have, and says why', async () => {
      const opened = await open()
      await opened.backend.close()
      await opened.dispose?.()
      const skipped = cases.filter((one) => one.needs && !opened[one.needs])
      expect(skipped.length > 0).toBe(name === 'memory' || name === 'pglite')
      for (const one of skipped)
        expect(await runCase(one, open)).toEqual({ status: 'skipped', reason: expect.stringMatching(/no (reopen|second)/) })
    })
  })
}
