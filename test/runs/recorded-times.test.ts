// The journal tells when the work of each attempt began, so that people see how long it took.

import { describe, expect, test } from 'vitest'
import { TapeLines } from '../../src/cli/runs/tape-lines.ts'
import type { Event, Run } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

interface Attempted {
  readonly name: string
  readonly attempt: number
  readonly startedAt: number
}

/** A clock that goes on by itself and can be moved. */
function movedClock() {
  let ahead = 0
  return {
    now: () => Date.now() + ahead,
    pass: (ms: number) => {
      ahead += ms
    },
  }
}

async function attemptsOf(run: Run): Promise<readonly (Event & { readonly data: Attempted })[]> {
  const found: (Event & { readonly data: Attempted })[] = []
  for await (const event of run.tape())
    if (event.type === 'effect.settled' || event.type === 'effect.retried') found.push({ ...event, data: event.data as Attempted })
  return found
}

describe.each(engines)('on $name', (engine) => {
  test('each attempt of an effect records when its work began', async () => {
    const clock = movedClock()
    const store = await engine.open({ clock })
    const run = await (await store.session('s')).run('r')
    const began: number[] = []
    const work = ({ attempt }: { readonly attempt: number }) => {
      began.push(clock.now())
      clock.pass(5000)
      if (attempt === 1) throw new Error('not yet')
      return 'sent'
    }
    const first = clock.now()
    await run.effect('send', work, { retry: { attempts: 2, backoff: '1ms' } })
    clock.pass(60_000)
    const begun = await run.begin<number>('by hand')
    const asked = clock.now()
    clock.pass(7000)
    if (!begun.done) await begun.settle(1)

    const [retried, settled, byHand] = await attemptsOf(run)
    expect([retried?.type, settled?.type, byHand?.data.name]).toEqual(['effect.retried', 'effect.settled', 'by hand'])
    expect(retried?.data.startedAt).toBeGreaterThanOrEqual(first)
    expect(retried?.data.startedAt).toBeLessThanOrEqual(began[0] as number)
    expect((retried?.at ?? 0) - (retried?.data.startedAt ?? 0)).toBeGreaterThanOrEqual(5000)
    expect(settled?.data.startedAt).toBeGreaterThanOrEqual((began[0] as number) + 5000)
    expect(settled?.data.startedAt).toBeLessThanOrEqual(began[1] as number)
    expect(byHand?.data.startedAt).toBeGreaterThanOrEqual((began[1] as number) + 65_000)
    expect(byHand?.data.startedAt).toBeLessThanOrEqual(asked)

    const lines = new TapeLines(new Map())
    const took: (string | undefined)[] = []
    for await (const event of run.tape()) took.push(lines.cells(event)?.[5])
    expect(took.filter(Boolean)).toEqual([
      expect.stringMatching(/^5\.\d{3}$/),
      expect.stringMatching(/^5\.\d{3}$/),
      expect.stringMatching(/^7\.\d{3}$/),
    ])
    await run.finish()
    await expectSound(store)
  })
})
