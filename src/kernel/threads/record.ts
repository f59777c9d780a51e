// The record beside a message: finish reason, usage, cost, duration, model, provider and statistics.

import type { Json } from '../../model/data.ts'
import { invalidOption, optionsOf } from '../../model/options.ts'
import type { MessageRecord } from '../../model/thread.ts'
import { admit } from '../draft.ts'
import type { Scope } from '../scope.ts'

const TEXTS = ['finishReason', 'model', 'provider']
const NUMBERS = ['cost', 'durationMs', 'completedAt']
const OBJECTS = ['usage', 'statistics']

/** Checks and masks a record. Members with other names are kept, because applications measure more than we name. */
export function takeRecord(scope: Scope, given: MessageRecord): MessageRecord {
  const record = admit(scope, { ...optionsOf(given, 'record') }) as { readonly [key: string]: Json }
  const must = (names: readonly string[], what: string, is: (value: Json) => boolean): void => {
    for (const name of names) {
      const value = record[name]
      if (value !== undefined && !is(value)) throw invalidOption(`record.${name}`, what, value)
    }
  }
  must(TEXTS, 'a text', (value) => typeof value === 'string')
  must(NUMBERS, 'a number ≥ 0', (value) => typeof value === 'number' && value >= 0)
  must(OBJECTS, 'an object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value))
  must(['interrupted'], 'true or false', (value) => typeof value === 'boolean')
  return record
}
