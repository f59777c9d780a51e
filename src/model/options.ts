// Options arrive from JavaScript too: what is not an object of options is refused before anything is read from it.

import { utf8Length } from './bytes.ts'
import { refuse } from './errors.ts'
import { limits } from './limits.ts'

/** `undefined` stands for no options; anything but an object is refused. */
export function optionsOf<T extends object>(given: T | undefined, of: string): T {
  if (given === undefined) return {} as T
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw refuse('OPTION_INVALID', { option: of, why: 'options are an object' })
  return given
}

/** What is left once everything known was taken out: a name with one letter wrong would go unheard. */
export function checkKnown(unknown: object, of: string): void {
  for (const option of Object.keys(unknown)) throw refuse('OPTION_INVALID', { option, why: `${of} has no such option` })
}

export function listOf<T>(given: readonly T[] | undefined, of: string): readonly T[] | undefined {
  if (given !== undefined && !Array.isArray(given)) throw refuse('OPTION_INVALID', { option: of, why: 'it is a list' })
  return given
}

export function checkSeq(seq: unknown): number {
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 0)
    throw refuse('RANGE_INVALID', { why: `${String(seq)} is not a seq` })
  return seq
}

/** Keys that users choose: for a session, for a retry. They end in text columns, and not every database can hold U+0000 in one. */
export function checkKey(key: unknown): asserts key is string {
  if (typeof key !== 'string') throw refuse('KEY_INVALID', { found: typeof key })
  if (key.includes('\0')) throw refuse('KEY_INVALID', { found: 'one with U+0000' })
  if (key !== '' && key.isWellFormed() && utf8Length(key) <= limits.keyBytes) return
  throw refuse('KEY_INVALID', { found: `${key.length} characters` })
}
