// The record beside a message: finish reason, usage, cost, duration, model, provider and statistics.

import type { Json } from '../../../model/data.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { FINISH_REASONS, type MessageRecord } from '../../../model/thread.ts'
import type { Scope } from '../../wiring/scope.ts'
import { admit } from '../../writing/draft.ts'
import { checkCounts } from '../usage/ledger.ts'
import type { LinkedApproval } from './linked-approvals.ts'

/** A record as it is read. */
export interface ShownRecord extends MessageRecord {
  /** The approvals of the store that tool calls of the message wait for. */
  readonly approvals?: readonly LinkedApproval[]
  /** The message was erased, with its record. */
  readonly erased?: true
}

const REASONS: readonly Json[] = FINISH_REASONS
const isText = (value: Json): boolean => typeof value === 'string'
const isAmount = (value: Json): boolean => typeof value === 'number' && value >= 0
const isMembers = (value: Json): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

type Rule = readonly [what: string, is: (value: Json) => boolean]

const RULES: Readonly<Record<keyof MessageRecord, Rule>> = {
  interrupted: ['true or false', (value) => typeof value === 'boolean'],
  error: ['a text', isText],
  aborted: ['a text, or true', (value) => isText(value) || value === true],
  finishReason: [`one of ${FINISH_REASONS.join(', ')}`, (value) => REASONS.includes(value)],
  usage: ['an object', isMembers],
  cost: ['a number ≥ 0', isAmount],
  durationMs: ['a number ≥ 0', isAmount],
  completedAt: ['a number ≥ 0', isAmount],
  model: ['a text', isText],
  provider: ['a text', isText],
  statistics: ['an object', isMembers],
}

/** Checks and masks a record. What an application measures beyond its members stands in `statistics`. */
export function takeRecord(scope: Scope, given: MessageRecord): MessageRecord {
  const taken = optionsOf(given, 'record')
  checkKnown(Object.fromEntries(Object.entries(taken).filter(([name]) => !Object.hasOwn(RULES, name))), 'a record')
  const record = admit(scope, { ...taken }) as { readonly [key: string]: Json }
  for (const [name, [what, is]] of Object.entries(RULES)) {
    const value = record[name]
    if (value !== undefined && !is(value)) throw invalidOption(`record.${name}`, what, value)
  }
  if (record.usage !== undefined) checkCounts(record.usage as object, { of: 'a message' })
  return record
}
