// The schema version that every record of a conversation carries. A reader refuses a record whose version it does not know.

import { refuse } from './errors.ts'

/** The version of sessions, heads, nodes, turn receipts, threads, messages and attachments. */
export const RECORD_SCHEMA = 1

/** A missing, a non-numeric and an unequal version are three different errors. */
export function checkRecord<T extends object>(record: T, about: { readonly record: string; readonly id: string }): T {
  const { schema } = record as { readonly schema?: unknown }
  if (schema === undefined || schema === null) throw refuse('RECORD_VERSION_MISSING', { ...about, expected: RECORD_SCHEMA })
  if (typeof schema !== 'number' || !Number.isFinite(schema))
    throw refuse('RECORD_VERSION_INVALID', { ...about, expected: RECORD_SCHEMA, found: String(schema).slice(0, 40) })
  if (schema !== RECORD_SCHEMA) throw refuse('RECORD_VERSION_UNEQUAL', { ...about, expected: RECORD_SCHEMA, found: schema })
  return record
}
