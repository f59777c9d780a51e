// The deciders of triggers by themselves: what is decided, and what is left when a payload is erased.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EventId, Id } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import type { Body } from '../../../model/rows.ts'
import type { DeliveryRow, FiringId, FiringRow, SourceRow, TriggerDefinition, TriggerId, TriggerRow } from '../../../model/trigger.ts'
import type { AnyDecider, Command, Decision, Fact } from '../../writing/decider.ts'
import { type DeliveryCommand, delivery } from './delivery-decider.ts'
import { firing } from './firing-decider.ts'
import { source } from './source-decider.ts'
import { trigger as decider, type TriggerCommand } from './trigger-decider.ts'

const SUBJECT = '01ARZ3NDEKTSV4RRFFQ69G5FAV' as Id

/** One row and its events. Whoever erases one folds the others anew. */
class Row<R, C extends Command> {
  readonly #decider: AnyDecider
  readonly events: { readonly type: string; data: Body | undefined }[] = []

  constructor(decider: AnyDecider) {
    this.#decider = decider
  }

  get now(): R | undefined {
    return this.events.reduce<R | undefined>(
      (row, { type, data }, i) => this.#decider.evolve[type]?.(row, this.#happened(type, data, i)),
      undefined,
    )
  }

  do(command: C): readonly string[] {
    const decided: readonly Fact[] | Decision = this.#decider.decide[command.verb]?.(this.now, command, 0) ?? []
    const facts = 'facts' in decided ? decided.facts : decided
    this.events.push(...facts.map(({ type, data }) => ({ type, data: JSON.parse(JSON.stringify(data)) as Body })))
    return facts.map(({ type }) => type)
  }

  erase(at: number): void {
    ;(this.events[at] as { data: Body | undefined }).data = undefined
  }

  #happened(type: string, data: Body | undefined, at: number) {
    return { id: SUBJECT as EventId, type, data, at, actor: '', subject: SUBJECT }
  }
}

const codeOf = (ask: () => unknown): string => {
  try {
    ask()
    return 'no error'
  } catch (error) {
    return (error as { code: string }).code
  }
}

const definition = (more: Partial<TriggerDefinition> = {}): TriggerDefinition => ({
  name: 'invoice-paid',
  source: 'stripe',
  queue: 'billing',
  offer: { delayMs: 0 },
  ...more,
})
const set = (more?: Partial<TriggerDefinition>, expect?: number): TriggerCommand => ({
  verb: 'set',
  definition: definition(more),
  expect,
})
const turn = (verb: 'disable' | 'enable' | 'delete', expect?: number): TriggerCommand => ({ verb, name: 'invoice-paid', expect })
const trigger = () => new Row<TriggerRow, TriggerCommand>(decider)

describe('a trigger', () => {
  test('a trigger counts every change of it, and the same again is no change', () => {
    const row = trigger()
    expect(row.do(set())).toEqual(['trigger.set'])
    expect(row.do(set())).toEqual([])
    expect(row.now).toMatchObject({ revision: 1, state: 'enabled', setAt: 0 })
    expect(row.do(turn('disable'))).toEqual(['trigger.disabled'])
    expect(row.do(turn('disable'))).toEqual([])
    expect(row.do(set())).toEqual([])
    expect(row.do(set({ queue: 'other' }))).toEqual(['trigger.set'])
    expect(row.now).toMatchObject({ revision: 3, state: 'disabled', queue: 'other' })
    expect(row.do(turn('enable'))).toEqual(['trigger.enabled'])
    expect(row.do(turn('delete'))).toEqual(['trigger.deleted'])
    expect(row.now).toMatchObject({ revision: 5, state: 'deleted' })
    expect(row.do(set())).toEqual(['trigger.set'])
    expect(row.now).toMatchObject({ revision: 6, state: 'enabled', queue: 'billing' })
  })

  test('a trigger is changed only by whoever knows it as it is, where that was asked for', () => {
    const row = trigger()
    expect(codeOf(() => row.do(set({}, 1)))).toBe('TRIGGER_CHANGED')
    row.do(set({}, 0))
    expect(codeOf(() => row.do(set({ queue: 'other' }, 0)))).toBe('TRIGGER_CHANGED')
    // What is so already is not refused: a retry finds its own success.
    expect(row.do(set({}, 0))).toEqual([])
    expect(codeOf(() => row.do(turn('delete', 2)))).toBe('TRIGGER_CHANGED')
    row.do(turn('delete', 1))
    // What is deleted is not there.
    expect(codeOf(() => row.do(set({}, 2)))).toBe('TRIGGER_CHANGED')
    row.do(set({}, 0))
    expect(row.now).toMatchObject({ revision: 3, state: 'enabled' })
  })

  test.each(['disable', 'enable', 'delete'] as const)('a trigger that is not there, or was deleted, is unknown to %s', (verb) => {
    const row = trigger()
    expect(codeOf(() => row.do(turn(verb)))).toBe('TRIGGER_UNKNOWN')
    row.do(set())
    row.do(turn('delete'))
    expect(codeOf(() => row.do(turn(verb)))).toBe('TRIGGER_UNKNOWN')
  })

  test('a trigger whose definition was erased is for nothing, and not for what it was before', () => {
    const row = trigger()
    row.do(set())
    row.do(set({ queue: 'other' }))
    row.do(turn('disable'))
    row.do(turn('enable'))
    row.erase(1)
    expect(row.now).toMatchObject({ state: 'deleted', revision: 4, name: 'invoice-paid' })
    row.do(set({ queue: 'third' }))
    expect(row.now).toMatchObject({ state: 'enabled', revision: 5, queue: 'third' })
    row.erase(0)
    expect(row.now).toMatchObject({ state: 'enabled', revision: 5, queue: 'third' })
    row.erase(4)
    expect(row.now).toMatchObject({ state: 'deleted', revision: 5 })
  })

  test('a trigger has as many revisions as events, whatever is done with it and whatever of it is erased', () => {
    const command = fc.oneof(
      fc.constantFrom('a', 'b').map((queue) => set({ queue })),
      fc.constantFrom(turn('disable'), turn('enable'), turn('delete')),
    )
    fc.assert(
      fc.property(fc.array(command, { maxLength: 20 }), fc.nat(), (commands, erased) => {
        const row = trigger()
        for (const one of commands) codeOf(() => row.do(one))
        expect(row.now?.revision ?? 0).toBe(row.events.length)
        if (row.events.length > 0) row.erase(erased % row.events.length)
        expect(row.now?.revision ?? 0).toBe(row.events.length)
      }),
    )
  })
})

describe('a source', () => {
  test('a source moves with every change, counts its triggers, and takes no more than it can tell at once', () => {
    const row = new Row<SourceRow, { verb: 'change'; source: string; by: -1 | 0 | 1 }>(source)
    for (let i = 0; i < limits.sourceTriggers; i++) row.do({ verb: 'change', source: 'stripe', by: 1 })
    expect(row.now).toEqual({ source: 'stripe', count: limits.sourceTriggers })
    expect(codeOf(() => row.do({ verb: 'change', source: 'stripe', by: 1 }))).toBe('TRIGGER_LIMIT')
    expect(row.do({ verb: 'change', source: 'stripe', by: 0 })).toEqual(['triggers.changed'])
    row.do({ verb: 'change', source: 'stripe', by: -1 })
    row.do({ verb: 'change', source: 'stripe', by: 1 })
    row.erase(row.events.length - 1)
    expect(row.now?.count).toBe(limits.sourceTriggers - 1)
  })

  test('a source of which everything was erased is there, and counts from nothing', () => {
    const row = new Row<SourceRow, { verb: 'change'; source: string; by: -1 | 0 | 1 }>(source)
    row.do({ verb: 'change', source: 'stripe', by: 1 })
    row.erase(0)
    expect(row.now).toEqual({ count: 0 })
    row.do({ verb: 'change', source: 'stripe', by: -1 })
    expect(row.now).toEqual({ source: 'stripe', count: 0 })
  })
})

describe('a firing', () => {
  const fire = (digest: string) =>
    ({ verb: 'fire', id: SUBJECT as FiringId, source: 'stripe', key: 'evt_1', payload: { value: 1 }, digest }) as const

  test('a firing is told once, and is no other under the same key', () => {
    const row = new Row<FiringRow, ReturnType<typeof fire>>(firing)
    expect(row.do(fire('a'))).toEqual(['trigger.fired'])
    expect(row.do(fire('a'))).toEqual([])
    expect(codeOf(() => row.do(fire('b')))).toBe('KEY_REUSED')
    row.erase(0)
    expect(row.now).toEqual({ id: SUBJECT, firedAt: 0, erased: true })
    expect(codeOf(() => row.do(fire('a')))).toBe('KEY_REUSED')
  })
})

describe('a delivery', () => {
  const reserve: DeliveryCommand = {
    verb: 'reserve',
    firing: SUBJECT as FiringId,
    trigger_id: SUBJECT as TriggerId,
    trigger: 'invoice-paid',
    revision: 3,
    queue: 'billing',
    item: SUBJECT as Id<'work'>,
  }
  const error = { name: 'Error', message: 'no' }

  test('a delivery is reserved once and goes where its item goes', () => {
    const row = new Row<DeliveryRow, DeliveryCommand>(delivery)
    expect(row.do(reserve)).toEqual(['delivery.reserved'])
    expect(row.do(reserve)).toEqual([])
    row.do({ verb: 'begin', attempt: 1 })
    expect(row.now).toMatchObject({ state: 'delivering', attempt: 1, revision: 3 })
    // Whoever held it died.
    row.do({ verb: 'begin', attempt: 2 })
    expect(row.now).toMatchObject({ state: 'delivering', attempt: 2 })
    row.do({ verb: 'return', error })
    expect(row.now).toMatchObject({ state: 'reserved', error })
    row.do({ verb: 'die', error: { name: 'Error', message: 'never' } })
    expect(row.now).toMatchObject({ state: 'dead', error: { message: 'never' } })
    row.do({ verb: 'return' })
    row.do({ verb: 'begin', attempt: 1 })
    row.do({ verb: 'deliver' })
    expect(row.now).toMatchObject({ state: 'delivered', attempt: 1, error: undefined })
  })

  test('a delivery whose reservation was erased still goes where its item goes', () => {
    const row = new Row<DeliveryRow, DeliveryCommand>(delivery)
    row.do(reserve)
    row.do({ verb: 'begin', attempt: 1 })
    row.erase(0)
    expect(row.now).toMatchObject({ state: 'delivering', attempt: 1, erased: true })
    expect(row.do({ verb: 'deliver' })).toEqual(['delivery.delivered'])
    expect(row.now).toMatchObject({ state: 'delivered' })
    expect(row.now).not.toHaveProperty('trigger')
  })

  test('a delivery whose later payloads were erased is still in its state', () => {
    const row = new Row<DeliveryRow, DeliveryCommand>(delivery)
    row.do(reserve)
    row.do({ verb: 'begin', attempt: 1 })
    row.do({ verb: 'die', error })
    row.erase(1)
    row.erase(2)
    expect(row.now).toMatchObject({ state: 'dead', attempt: 0 })
    expect(row.now?.error).toBeUndefined()
  })
})
