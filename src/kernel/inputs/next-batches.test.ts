import { describe, expect, test } from 'vitest'
import type { BatchClaim, BatchRow } from '../../model/batch.ts'
import { chooseBatches, type WantedBatches } from './next-batches.ts'

let made = 0
const batch = (set: Partial<BatchRow> = {}): BatchRow =>
  ({ id: `b${++made}`, kind: 'turn', delivery: 'boundary', join: true, state: 'pending', attempt: 0, offeredAt: 0, ...set }) as BatchRow

const claimed = (id: string, set: Partial<BatchRow> = {}): BatchRow =>
  batch({ state: 'claimed', claim: { id, run: 'r', fence: 7 } as unknown as BatchClaim, ...set })

const idle: WantedBatches = { kind: 'turn', at: 'idle', most: 10 }
const boundary: WantedBatches = { ...idle, at: 'boundary' }
const command: WantedBatches = { ...idle, kind: 'command' }

describe('what comes next in an inbox', () => {
  test('is nothing where nothing is', () => {
    expect(chooseBatches([], idle)).toEqual({ why: 'empty' })
  })

  test('is never what stands behind a command, and a command only once it stands first', () => {
    const [turn, order] = [batch(), batch({ kind: 'command' })]
    expect(chooseBatches([order, turn], idle)).toEqual({ why: 'commandAtHead' })
    expect(chooseBatches([order, turn], command)).toEqual({ batches: [order] })
    expect(chooseBatches([turn, order], command)).toEqual({ why: 'turnAtHead' })
    expect(chooseBatches([turn, order, batch()], idle)).toEqual({ batches: [turn] })
  })

  test('is a command alone, though others of its kind stand behind it', () => {
    const orders = [batch({ kind: 'command' }), batch({ kind: 'command' })]
    expect(chooseBatches(orders, command)).toEqual({ batches: [orders[0]] })
  })

  test('is within a turn only what may come there', () => {
    const [now, after] = [batch(), batch({ delivery: 'afterTurn' })]
    expect(chooseBatches([after, now], boundary)).toEqual({ why: 'boundary' })
    expect(chooseBatches([now, after], boundary)).toEqual({ batches: [now] })
    expect(chooseBatches([after, now], idle)).toEqual({ batches: [after] })
    expect(chooseBatches([batch({ kind: 'command', delivery: 'afterTurn' })], { ...command, at: 'boundary' })).toEqual({ why: 'boundary' })
  })

  test('comes alone where it is exclusive, and otherwise with its like beside it, up to the limit', () => {
    const alone = batch({ join: false })
    expect(chooseBatches([alone, batch()], idle)).toEqual({ batches: [alone] })
    const like = [batch({ merge: 'a' }), batch({ merge: 'a' }), batch({ merge: 'a' })]
    expect(chooseBatches([...like, batch({ merge: 'b' })], idle)).toEqual({ batches: like })
    expect(chooseBatches(like, { ...idle, most: 2 })).toEqual({ batches: like.slice(0, 2) })
    for (const other of [batch({ merge: 'b' }), batch(), batch({ merge: 'a', delivery: 'afterTurn' }), batch({ merge: 'a', join: false })])
      expect(chooseBatches([...like.slice(0, 1), other, ...like.slice(1)], idle)).toEqual({ batches: like.slice(0, 1) })
  })

  test('is no more than fits one entry, and at least one', () => {
    const large = () => batch({ payload: { value: 'x'.repeat(50_000) } })
    const [a, b, c] = [large(), large(), large()]
    expect(chooseBatches([a, b, c], idle)).toEqual({ batches: [a, b] })
    const huge = batch({ payload: { value: 'x'.repeat(500_000) } })
    expect(chooseBatches([huge, a], idle)).toEqual({ batches: [huge] })
  })

  test('is an interrupted claim as it was made, whatever is asked for now and whatever has come in between', () => {
    const [x, y] = [claimed('c', { merge: 'a' }), claimed('c', { merge: 'a' })]
    const ready = [x, batch({ merge: 'a' }), claimed('d'), y, batch()]
    expect(chooseBatches(ready, { ...boundary, most: 1 })).toEqual({ batches: [x, y], from: x.claim })
  })

  test('obeys the turn for an interrupted claim too, and does not mix it with others', () => {
    expect(chooseBatches([claimed('c', { delivery: 'afterTurn' })], boundary)).toEqual({ why: 'boundary' })
    expect(chooseBatches([claimed('c', { kind: 'command' })], idle)).toEqual({ why: 'commandAtHead' })
    const first = batch()
    expect(chooseBatches([first, claimed('c'), batch()], idle)).toEqual({ batches: [first] })
  })
})
