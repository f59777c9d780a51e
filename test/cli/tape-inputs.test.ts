// What a run took up from its session, as its tape is shown.

import { expect, test } from 'vitest'
import { TapeLines } from '../../src/cli/runs/tape-lines.ts'
import { openIn } from '../support/engines.ts'

test('the tape shows what was said to a run, what it heard, and what it claimed or why nothing', async () => {
  const store = await openIn(':memory:')
  const session = await store.session('s')
  await session.inbox.offer('wake', { kind: 'turn', delivery: 'boundary' })
  const run = await session.run('turn')
  await session.input({ text: 'also the address' })
  await session.input('too late', { boundary: 'beforeCompletion' })
  await run.inputs()
  await run.inputs({ from: 'next' })
  const { claim = '' } = await run.inbox({ at: 'boundary' })
  await run.inbox({ kind: 'command' })
  await run.inboxDone(claim)
  await run.inboxDone(claim).catch(() => {})
  await session.inbox.offer('later', { kind: 'turn', delivery: 'boundary' })
  const { claim: second = '' } = await run.inbox({ at: 'boundary' })
  await run.inboxRelease(second)
  await run.finish()
  const lines = new TapeLines(new Map())
  const shown: string[][] = []
  for await (const event of run.tape()) {
    const cells = lines.cells(event)
    if (cells) shown.push([cells[2] ?? '', cells[3] ?? '', cells[6] ?? ''])
  }
  expect(shown).toEqual([
    ['○', 'opened', ''],
    ['»', 'taken up', expect.stringContaining('fence')],
    ['·', 'input', '{"text":"also the address"}'],
    ['·', 'input', '"too late"'],
    ['✓', 'inputs afterWork', '{"text":"also the address"}'],
    ['✓', 'inputs next', 'nothing'],
    ['✓', 'inbox boundary', `claim ${claim}: "wake"`],
    ['✓', 'inbox command/idle', 'nothing: held'],
    ['✓', `inbox done ${claim}`, 'the claim is done'],
    ['✓', `inbox done ${claim} #2`, 'it has no such claim'],
    ['✓', 'inbox boundary #2', `claim ${second}: "later"`],
    ['✓', `inbox release ${second}`, 'its items are pending again'],
    ['●', 'done', ''],
    ['·', 'input', 'left to the next turn'],
  ])
})
