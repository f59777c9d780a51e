// Finds passwords in the lines of well-known files and tools: `.netrc`, `.pgpass` and `chpasswd`.
import { innocentValue, passwordLike } from './looks.ts'
import { withoutPlaceholders } from './placeholder.ts'
import type { Span } from './spans.ts'

const NETRC = /\blogin\s{1,4}\S{1,128}\s{1,4}password\s{1,4}(\S{1,128})/g

export function netrcSpans(text: string, spans: Span[]): void {
  for (const hit of text.matchAll(NETRC)) push(hit.index + hit[0].length, hit[1] as string, spans)
}

const PORT = /:(?:\d{4,5}|\*):/y
const HOST = /^(?=[^:]*[A-Za-z.*])[\w.*-]+$/
const LONGEST_HOST = 128
const REST =
  /(?:[A-Za-z_][\w-]{0,62}|\*):(?:[A-Za-z_][\w.@-]{0,62}|\*):((?:\[redacted:[a-z0-9-]{1,32}:[0-9a-f]{8}\]|\\[:\\]|[^\s:"'`\\]){1,128})(?=[\s"'`]|$)/y
const EDGES = ' \t\r\n"\'`=(['

/** Finds the password of `host:port:database:user:password` by the colon before the port. The line may be quoted in a text. */
export function pgpassSpan(text: string, colon: number): Span | undefined {
  PORT.lastIndex = colon
  if (!PORT.test(text)) return undefined
  REST.lastIndex = PORT.lastIndex
  const secret = REST.exec(text)?.[1]
  if (secret === undefined || secret.length < 4 || innocentValue(secret)) return undefined
  const end = REST.lastIndex
  let start = colon
  while (start > 0 && colon - start <= LONGEST_HOST && !EDGES.includes(text[start - 1] as string)) start--
  if (!HOST.test(text.slice(start, colon))) return undefined
  const alone = (start === 0 || text[start - 1] === '\n') && '\r\n'.includes(text.charAt(end))
  return alone || passwordLike(withoutPlaceholders(secret)) ? { start: end - secret.length, end, kind: 'key' } : undefined
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

function push(end: number, value: string, spans: Span[]): void {
  if (!innocentValue(value)) spans.push({ start: end - value.length, end, kind: 'key' })
}
