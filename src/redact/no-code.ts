// Tells where no code can stand: there a value that looks like a call or a member is a password.

export interface Key {
  readonly start: number
  readonly end: number
  readonly quoted: boolean
}

const NEXT_FIELD = /&[\w.%-]{1,40}=/y
const HEADER = /^[A-Z][A-Za-z]{0,30}(?:-[A-Z][A-Za-z]{0,30}){1,6}$/
/** The members of a connection string before its password. */
const CONNECTION =
  /(?:^|[\s"'`;])(?:server|data source|host|hostname|address|endpoint|database|initial catalog|uid|user id|user|username|driver|provider|port|accountname)\s{0,2}=[^;"'`\n]{1,160};(?:\s{0,2}[^;="'`\n]{1,40}=[^;"'`\n]{0,160};){0,12}\s{0,2}$/i
const CONNECTION_CHARS = 480

/** Whether a value stands where no code can: in a query, a form, an option, a header or a connection string. */
export function noCode(text: string, key: Key, at: number, end: number): boolean {
  if (key.quoted) return false
  if (text.charCodeAt(at) !== 61) {
    const before = text.charAt(key.start - 1)
    return (before === '' || '\n"\'`n'.includes(before)) && HEADER.test(text.slice(key.start, key.end))
  }
  if (key.end !== at) return false
  NEXT_FIELD.lastIndex = end
  return (
    (isQuery(text.charCodeAt(key.start - 1)) && text[key.start - 2] !== ' ') ||
    text.startsWith('--', key.start) ||
    NEXT_FIELD.test(text) ||
    (text[key.start - 1] === ';' || text[key.start - 1] === ' '
      ? CONNECTION.test(text.slice(Math.max(0, key.start - CONNECTION_CHARS), key.start))
      : false)
  )
}

/** Whether the mark is the `?` or `&` of a URL. */
export function isQuery(code: number): boolean {
  return code === 63 || code === 38
}
