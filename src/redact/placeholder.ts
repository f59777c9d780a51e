// A placeholder stands for a masked secret: `[redacted:kind:tag]`. Only a known kind with a tag of eight hex digits is one, so nobody can
// dress a secret up as a placeholder.
import { MARKED_SHAPES, SHAPES } from './shapes.ts'

export type Tag = (secret: string) => string

export interface Range {
  readonly start: number
  readonly end: number
}

/** Kinds of secrets that are recognised by the text around them, or by rules instead of a row in `shapes.ts`. */
const RULE_KINDS = ['key', 'value', 'token', 'jwt', 'bearer', 'basic', 'cookie', 'url-password', 'private-key']
const KINDS: ReadonlySet<string> = new Set([...RULE_KINDS, ...SHAPES.map(({ kind }) => kind), ...MARKED_SHAPES.map(({ kind }) => kind)])
const OPENING = '[redacted:'
const PLACEHOLDER = /\[redacted:([a-z0-9-]{1,32}):[0-9a-f]{8}\]/y
const TAG_CHARS = 8
/** The longest kind and its tag. */
const LONGEST = 64

export function placeholder(kind: string, tag: string): string {
  return `${OPENING}${kind}:${tag}]`
}

export function placeholderLength(kind: string): number {
  return OPENING.length + kind.length + 1 + TAG_CHARS + 1
}

/** Returns the places of all placeholders in a text, in order. */
export function placeholdersIn(text: string): Range[] {
  const found: Range[] = []
  for (let at = text.indexOf(OPENING); at >= 0; at = text.indexOf(OPENING, at + 1)) {
    const end = placeholderEnd(text, at)
    if (end >= 0) found.push({ start: at, end })
  }
  return found
}

/** Returns the end of the placeholder that begins at `at`, or -1 if none does. */
export function placeholderEnd(text: string, at: number): number {
  PLACEHOLDER.lastIndex = at
  const hit = PLACEHOLDER.exec(text)
  return hit !== null && KINDS.has(hit[1] as string) ? at + hit[0].length : -1
}

/** Returns the text without its placeholders, so that their tags do not make it look random. */
export function withoutPlaceholders(text: string): string {
  if (!text.includes(OPENING)) return text
  let out = ''
  let from = 0
  for (const { start, end } of placeholdersIn(text)) {
    out += text.slice(from, start)
    from = end
  }
  return out + text.slice(from)
}

/** Whether the text is one placeholder and nothing else. */
export function isPlaceholder(text: string): boolean {
  return text.length <= LONGEST && text.startsWith(OPENING) && placeholderEnd(text, 0) === text.length
}
