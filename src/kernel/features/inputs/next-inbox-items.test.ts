import { describe, expect, test } from 'vitest'
import type { InboxItemClaim, InboxRow } from '../../../model/inbox.ts'
import { chooseItems, type WantedItems } from './next-inbox-items.ts'

let made = 0
const batch = (set: Partial<InboxRow> = {}): InboxRow =>
  ({ id: `b${++made}`, kind: 'turn', delivery: 'boundary', join: true, state: 'pending', attempt: 0, offeredAt: 0, ...set }) as InboxRow

const claimed = (id: string, set: Partial<InboxRow> = {}): InboxRow =>
  batch({ state: 'claimed', claim: { id, run: 'r', fence: 7 } as unknown as InboxItemClaim, ...set })

const idle: WantedItems = { kind: 'turn', at: 'idle', most: 10 }
const boundary: WantedItems = { ...idle, at: 'boundary' }
const command: WantedItems = { ...idle, kind: 'command' }

describe('what comes next in an inbox', () => {
  test('the next of an inbox is nothing where nothing is', () => {
    expect(chooseItems([], idle)).toEqual({ why: 'empty' })
  })

  test('the next of an inbox is never what stands behind a command, and a command only once it stands first', () => {
    const [turn, order] = [batch(), batch({ kind: 'command' })]
    expect(chooseItems([order, turn], idle)).toEqual({ why: 'commandAtHead' })
    expect(chooseItems([order, turn], command)).toEqual({ batches: [order] })
    expect(chooseItems([turn, order], command)).toEqual({ why: 'turnAtHead' })
    expect(chooseItems([turn, order, batch()], idle)).toEqual({ batches: [turn] })
  })

  test('the next of an inbox is a command alone, though others of its kind stand behind it', () => {
    const orders = [batch({ kind: 'command' }), batch({ kind: 'command' })]
    expect(chooseItems(orders, command)).toEqual({ batches: [orders[0]] })
  })

  test('the next of an inbox is within a turn only what may come there', () => {
    const [now, after] = [batch(), batch({ delivery: 'afterTurn' })]
    expect(chooseItems([after, now], boundary)).toEqual({ why: 'boundary' })
    expect(chooseItems([now, after], boundary)).toEqual({ batches: [now] })
    expect(chooseItems([after, now], idle)).toEqual({ batches: [after] })
    expect(chooseItems([batch({ kind: 'command', delivery: 'afterTurn' })], { ...command, at: 'boundary' })).toEqual({ why: 'boundary' })
  })

  test('the next of an inbox comes alone where it is exclusive, and otherwise with its like beside it, up to the limit', () => {
    const alone = batch({ join: false })
    expect(chooseItems([alone, batch()], idle)).toEqual({ batches: [alone] })
    const like = [batch({ merge: 'a' }), batch({ merge: 'a' }), batch({ merge: 'a' })]
    expect(chooseItems([...like, batch({ merge: 'b' })], idle)).toEqual({ batches: like })
    expect(chooseItems(like, { ...idle, most: 2 })).toEqual({ batches: like.slice(0, 2) })
    for (const other of [batch({ merge: 'b' }), batch(), batch({ merge: 'a', delivery: 'afterTurn' }), batch({ merge: 'a', join: false })])
      expect(chooseItems([...like.slice(0, 1), other, ...like.slice(1)], idle)).toEqual({ batches: like.slice(0, 1) })
  })

  test('the next of an inbox is no more than fits one entry, and at least one', () => {
    const large = () => batch({ payload: { value: 'x'.repeat(50_000) } })
    const [a, b, c] = [large(), large(), large()]
    expect(chooseItems([a, b, c], idle)).toEqual({ batches: [a, b] })
    const huge = batch({ payload: { value: 'x'.repeat(500_000) } })
    expect(chooseItems([huge, a], idle)).toEqual({ batches: [huge] })
  })

  test('the next of an inbox is an interrupted claim as it was made, whatever is asked for now and whatever has come in between', () => {
    const [x, y] = [claimed('c', { merge: 'a' }), claimed('c', { merge: 'a' })]
    const ready = [x, batch({ merge: 'a' }), claimed('d'), y, batch()]
    expect(chooseItems(ready, { ...boundary, most: 1 })).toEqual({ batches: [x, y], from: x.claim })
  })

  test('the next of an inbox obeys the turn for an interrupted claim too, and does not mix it with others', () => {
    expect(chooseItems([claimed('c', { delivery: 'afterTurn' })], boundary)).toEqual({ why: 'boundary' })
    expect(chooseItems([claimed('c', { kind: 'command' })], idle)).toEqual({ why: 'commandAtHead' })
    const first = batch()
    expect(chooseItems([first, claimed('c'), batch()], idle)).toEqual({ batches: [first] })
  })
})
