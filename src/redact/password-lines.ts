// Finds passwords in the lines of well-known files and tools: `.netrc`, `.pgpass` and `chpasswd`.
import { absentWord, passwordLike } from './looks.ts'
import { withoutPlaceholders } from './placeholder.ts'
import type { Span } from './spans.ts'
import type { Undecided } from './undecided.ts'

const NETRC = /\blogin\s{1,4}\S{1,128}\s{1,4}password\s{1,4}([^\s\u0e00-\uffff]{1,128})/g

export function netrcSpans(text: string, spans: Span[], undecided?: Undecided): void {
  for (const hit of text.matchAll(NETRC)) {
    const end = hit.index + hit[0].length
    if (end === text.length) undecided?.(end - (hit[1] as string).length)
    push(end, hit[1] as string, spans)
  }
}

const PORT = /:(?:\d{4,5}|\*):/y
const HOST = /^(?=[^:]*[A-Za-z.*])[\w.*-]+$/
const LONGEST_HOST = 128
const REST =
  /(?:[A-Za-z_][\w-]{0,62}|\*):(?:[A-Za-z_][\w.@-]{0,62}|\*):((?:\[redacted:[a-z0-9-]{1,32}:[0-9a-f]{8}\]|\\[:\\]|[^\s:"'`\\]){1,128})(?=[\s"'`]|$)/y
/** The same without the end of its password. */
const BEGUN =
  /(?:[A-Za-z_][\w-]{0,62}|\*):(?:[A-Za-z_][\w.@-]{0,62}|\*):((?:\[redacted:[a-z0-9-]{1,32}:[0-9a-f]{8}\]|\\[:\\]|[^\s:"'`\\]){0,128}\\?)$/y
const EDGES = ' \t\r\n"\'`=(['

/** Finds the password of `host:port:database:user:password` by the colon before the port. The line may be quoted in a text. */
export function pgpassSpan(text: string, colon: number, undecided?: Undecided): Span | undefined {
  PORT.lastIndex = colon
  if (!PORT.test(text)) return undefined
  if (undecided !== undefined) {
    BEGUN.lastIndex = PORT.lastIndex
    const begun = BEGUN.exec(text)
    if (begun !== null) undecided(text.length - (begun[1] as string).length)
  }
  REST.lastIndex = PORT.lastIndex
  const secret = REST.exec(text)?.[1]
  if (secret === undefined || secret.length < 4 || absentWord(secret)) return undefined
  const end = REST.lastIndex
  let start = colon
  while (start > 0 && colon - start <= LONGEST_HOST && !EDGES.includes(text[start - 1] as string)) start--
  if (!HOST.test(text.slice(start, colon))) return undefined
  const alone = (start === 0 || text[start - 1] === '\n') && '\r\n'.includes(text.charAt(end))
  return alone || passwordLike(withoutPlaceholders(secret)) ? { start: end - secret.length, end, kind: 'key' } : undefined
}

const REDIS = /(?:^|config[ \t]{1,4}set)[ \t]{0,16}requirepass[ \t]{1,8}["']?([^\s"'\u0e00-\uffff]{1,128})/gim

/** `requirepass …` in the configuration of Redis, or in its command. */
export function redisSpans(text: string, spans: Span[], undecided?: Undecided): void {
  for (const hit of text.matchAll(REDIS)) {
    const end = hit.index + hit[0].length
    if (end === text.length) undecided?.(end - (hit[1] as string).length)
    push(end, hit[1] as string, spans)
  }
}

const NEAR = 512
const HERE_LINES = /(?:\n[\w.-]{1,64}:[^\n]{1,256}){0,32}/y
const LINES_BEFORE = /(?:^|\n)[^\n]{0,64}["'][\w.-]{1,64}:[^\n"']{1,256}\n(?:[\w.-]{1,64}:[^\n"']{1,256}\n){0,32}$/
const ACCOUNT = /(?<![^\s"'`])([A-Za-z_][\w.-]{0,63}):([^\s"'`|<>\\:/][^\s"'`|<>\\]{2,127})/g

/** `echo 'user:password' | chpasswd`, and the lines of its here document. */
export function chpasswdSpans(text: string, spans: Span[]): void {
  for (let at = text.indexOf('chpasswd'); at >= 0; ) {
    const line = Math.max(text.lastIndexOf('\n', at), at - NEAR, 0)
    // The quotes of `echo "a:b` may close several lines below.
    const before = LINES_BEFORE.exec(text.slice(Math.max(0, line + 1 - NEAR), line + 1))
    const start = before === null ? line : line + 1 - before[0].length
    const stop = text.indexOf('\n', at)
    const end = Math.min(stop < 0 ? text.length : stop, at + NEAR)
    HERE_LINES.lastIndex = end
    const lines = HERE_LINES.exec(text)?.[0].length ?? 0
    for (const hit of text.slice(start, end + lines).matchAll(ACCOUNT)) push(start + hit.index + hit[0].length, hit[2] as string, spans)
    at = text.indexOf('chpasswd', end + lines)
  }
}

/** Accounts at the end of the text, and no more than a quote and a pipe behind them: `chpasswd` may follow. */
const PIPE_BEGUN = String.raw`\\{0,4}["'\`]?[ \t]{0,4}(?:\|[ \t]{0,4}[a-z]{0,12}[ \t]{0,4}[a-z]{0,8})?$`
const ACCOUNTS = new RegExp(
  String.raw`((?<![^\s"'\`])[A-Za-z_][\w.-]{0,63}:)[^\s"'\`|<>\\:/][^\s"'\`|<>\\]{0,127}(?:\\{1,8}n[\w.-]{1,64}:[^\s"'\`|<>\\]{1,128}){0,8}(?:\\{1,8}(?:n[\w.-]{0,64}:?)?)?${PIPE_BEGUN}`,
)
const LINES = new RegExp(
  String.raw`(["'][\w.-]{1,64}:)[^\n"']{1,256}\n(?:[\w.-]{1,64}:[^\n"']{1,256}\n){0,32}(?:[\w.-]{1,64}(?::[^\n"']{0,256})?)?${PIPE_BEGUN}`,
)

/** Tells where the password of an account begins that `chpasswd` may follow. */
export function openAccounts(text: string, undecided: Undecided): void {
  const from = Math.max(0, text.length - 2 * NEAR)
  const line = Math.max(from, text.lastIndexOf('\n') + 1)
  open(text, line, ACCOUNTS, undecided)
  if (line > from) open(text, from, LINES, undecided)
}

function open(text: string, from: number, pattern: RegExp, undecided: Undecided): void {
  if (!text.includes(':', from)) return
  const hit = pattern.exec(text.slice(from))
  if (hit !== null) undecided(from + hit.index + (hit[1] as string).length)
}

function push(end: number, value: string, spans: Span[]): void {
  if (!absentWord(value)) spans.push({ start: end - value.length, end, kind: 'key' })
}
