// A trigger: set, disabled, enabled, deleted. Every change is a revision, so that a caller with an older one can be refused.

import { canonical } from '../../../model/canonical.ts'
import { refuse } from '../../../model/errors.ts'
import type { TriggerDefinition, TriggerId, TriggerRow, TriggerState } from '../../../model/trigger.ts'
import { decider, type Fact, fact, type Happened, type HappenedWith } from '../../writing/decider.ts'

/** `expect` is the revision that the caller knows, or 0 when the trigger must not exist. */
interface Turn {
  readonly name: string
  readonly expect?: number | undefined
}

export type TriggerCommand =
  | { readonly verb: 'set'; readonly definition: TriggerDefinition; readonly expect?: number | undefined }
  | ({ readonly verb: 'disable' } & Turn)
  | ({ readonly verb: 'enable' } & Turn)
  | ({ readonly verb: 'delete' } & Turn)

export const trigger = decider<TriggerRow, TriggerCommand>({
  table: 'triggers',

  decide: {
    // A program that sets the same trigger at every start must not enable what a person disabled.
    set: (row, { definition, expect }) => {
      if (isThere(row) && isSame(row, definition)) return []
      checkExpected(row, definition.name, expect)
      return [fact('trigger.set', { ...definition })]
    },
    disable: (row, turn) => turned(row, turn, 'disabled'),
    enable: (row, turn) => turned(row, turn, 'enabled'),
    delete: (row, turn) => turned(row, turn, 'deleted'),
  },

  evolve: {
    'trigger.set': (row, e: HappenedWith<TriggerDefinition>) => {
      const counted = { id: e.subject as TriggerId, revision: (row?.revision ?? 0) + 1, changedAt: e.at }
      // An erased definition matches nothing until the trigger is set again.
      if (!e.data) return { ...(row ?? { ...NOTHING, setAt: e.at }), ...counted, state: 'deleted' }
      const { setAt, state } = isThere(row) ? row : ({ setAt: e.at, state: 'enabled' } as const)
      return { ...e.data, ...counted, setAt, state }
    },
    'trigger.disabled': (row, e) => inState(row, e, 'disabled'),
    'trigger.enabled': (row, e) => inState(row, e, 'enabled'),
    'trigger.deleted': (row, e) => inState(row, e, 'deleted'),
  },
})

export const isThere = (row: TriggerRow | undefined): row is TriggerRow => row !== undefined && row.state !== 'deleted'

export const isSame = (row: TriggerRow, definition: TriggerDefinition): boolean =>
  canonical(definitionOf(row)) === canonical(definitionOf(definition))

const definitionOf = ({ name, source, queue, match, with: along, env, offer }: TriggerDefinition): TriggerDefinition => ({
  name,
  source,
  queue,
  match,
  with: along,
  env,
  offer,
})

function turned(row: TriggerRow | undefined, { name, expect }: Turn, state: TriggerState): readonly Fact[] {
  if (!isThere(row)) throw refuse('TRIGGER_UNKNOWN', { trigger: name })
  if (row.state === state) return []
  checkExpected(row, name, expect)
  return [fact(`trigger.${state}`, {})]
}

function checkExpected(row: TriggerRow | undefined, name: string, expect: number | undefined): void {
  const found = isThere(row) ? row.revision : 0
  if (expect !== undefined && expect !== found) throw refuse('TRIGGER_CHANGED', { trigger: name, expect, found })
}

/** A trigger whose definition was erased stays deleted, also when a later event enabled or disabled it. */
const inState = (row: TriggerRow | undefined, e: Happened, state: TriggerState): TriggerRow | undefined =>
  row && { ...row, state: row.state === 'deleted' ? row.state : state, revision: row.revision + 1, changedAt: e.at }

const NOTHING: Omit<TriggerDefinition, 'match'> = { name: '', source: '', queue: '', offer: { delayMs: 0 } }
