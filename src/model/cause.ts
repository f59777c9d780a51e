// The cause of a graph node or of a child session: what made somebody write it.

import { checkKnown, invalidOption, optionsOf } from './options.ts'

export type CauseKind = 'effect' | 'process' | 'processEvent' | 'firing' | 'node'
export const CAUSE_KINDS: readonly CauseKind[] = ['effect', 'process', 'processEvent', 'firing', 'node']

export interface Cause {
  /** `effect`: an effect of a run. `firing`: a firing of a trigger. `node`: another node of the graph. */
  readonly kind: CauseKind
  /** The id of the thing: the key of an effect, the id of a process or a firing, or the id of a node. */
  readonly id: string
  /** The number of a process event. */
  readonly number?: number
}

const ID_CHARS = 512

/** Checks a cause that a caller gave. */
export function takeCause(given: unknown, option = 'cause'): Cause {
  const { kind, id, number, ...unknown } = optionsOf(given as Partial<Cause> | undefined, option)
  checkKnown(unknown, 'a cause')
  if (!CAUSE_KINDS.includes(kind as CauseKind)) throw invalidOption(`${option}.kind`, `one of ${CAUSE_KINDS.join(', ')}`, kind)
  if (typeof id !== 'string' || id === '' || id.length > ID_CHARS || !id.isWellFormed())
    throw invalidOption(`${option}.id`, `a text of 1 to ${ID_CHARS} characters`, id)
  if ((number !== undefined) !== (kind === 'processEvent') || (number !== undefined && (!Number.isSafeInteger(number) || number < 1)))
    throw invalidOption(`${option}.number`, 'an integer ≥ 1 for a process event, and nothing for other causes', number)
  return { kind: kind as CauseKind, id, ...(number !== undefined && { number }) }
}
