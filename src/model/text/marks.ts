// Marks: index terms that stand for a whole value, so that filters are answered by the same index. Each begins with a character that no
// word contains.

import { utf8Length } from '../bytes.ts'
import { canonical } from '../canonical.ts'
import type { Json } from '../data.ts'
import { limits } from '../limits.ts'
import type { MemorySource } from '../memory.ts'

export const aboutMark = (about: string): string => `@${about}`
export const kindMark = (kind: string): string => `!${kind}`
export const tagMark = (tag: string): string => `#${tag}`
/** On items that another one has replaced. */
export const SUPERSEDED = '~superseded'

/** One mark for each member of a source. */
export const sourceMarks = (source: MemorySource): readonly string[] => Object.entries(source).map(([name, value]) => `^${name}:${value}`)

/** Undefined if the value cannot be filtered by: it is no scalar, or too long for an index entry. */
export function metadataMark(key: string, value: Json | undefined): string | undefined {
  if (value === undefined || (typeof value === 'object' && value !== null)) return undefined
  const mark = `=${canonical(key)}=${canonical(value)}`
  return utf8Length(mark) <= limits.memoryMarkBytes ? mark : undefined
}
