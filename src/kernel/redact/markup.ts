// Finds secrets in HTML and XML: `<password>…</password>`, password inputs, and settings with a telling name beside their value.
import type { KeyJudge } from './keys.ts'
import { absentValue, charKind, innocentValue } from './looks.ts'
import type { Span } from './spans.ts'

const ELEMENT = /<([A-Za-z][\w.:-]{0,60})(?:\s[^<>]{0,512})?>(?:<!\[CDATA\[)?([^<>]{1,2048}?)(?:\]\]>)?<\//g
/** A property list has the name in one element and the value in the next. */
const PROPERTY = /<key>([^<>]{2,64})<\/key>\s{0,64}<string>([^<>]{1,2048})<\/string>/g
const TAG = /<[A-Za-z][\w.:-]{0,60}\s[^<>]{0,1024}>/y
const ATTRIBUTE = /\s([A-Za-z][\w.:-]{0,60})\s{0,4}=\s{0,4}\\{0,3}(?:["']([^"'<>\\]{0,512})|([^\s"'`<>\\{$][^\s"'`<>\\]{0,511}))/g
const BODY = /(?:\s{0,64}<value>)?([^<>]{1,2048})(?=<\/)/y

export function elementSpans(text: string, judge: KeyJudge, spans: Span[]): void {
  for (const pattern of [ELEMENT, PROPERTY]) {
    for (const hit of text.matchAll(pattern)) {
      const value = hit[2] as string
      if (!secret(judge, hit[1] as string, value) || innocentValue(value.trim())) continue
      const start = hit.index + hit[0].lastIndexOf(value)
      spans.push({ start, end: start + value.length, kind: 'key' })
    }
  }
}

export function attributeSpans(text: string, judge: KeyJudge, spans: Span[]): void {
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    if (charKind(text.charCodeAt(at + 1)) === 0) continue
    TAG.lastIndex = at
    const tag = TAG.exec(text)
    if (tag === null || !tag[0].includes('=')) continue
    let named = false
    let input = false
    let value: { readonly text: string; readonly end: number } | undefined
    for (const hit of tag[0].matchAll(ATTRIBUTE)) {
      const name = (hit[1] as string).toLowerCase()
      const said = hit[2] ?? (hit[3] as string)
      if (name === 'type') input = said.toLowerCase() === 'password'
      else if (name === 'key' || name === 'name') named = secret(judge, said.slice(said.lastIndexOf('.') + 1), '')
      else if (name === 'value' && (hit[3] === undefined || !innocentValue(said)))
        value = { text: said, end: tag.index + hit.index + hit[0].length }
    }
    if (!named && !input) continue
    BODY.lastIndex = tag.index + tag[0].length
    const body = value === undefined && !tag[0].endsWith('/>') ? BODY.exec(text)?.[1]?.trim() : undefined
    if (value !== undefined && !absentValue(value.text)) spans.push({ start: value.end - value.text.length, end: value.end, kind: 'key' })
    else if (body !== undefined && body !== '' && !innocentValue(body)) {
      const start = text.indexOf(body, tag.index + tag[0].length)
      spans.push({ start, end: start + body.length, kind: 'key' })
    }
  }
}

function secret(judge: KeyJudge, name: string, value: string): boolean {
  const kind = judge(name)
  // `<token>identifier</token>` is the output of a parser.
  return kind === 'all' || (kind === 'text' && !/^(?:\d+|[A-Za-z_]{1,20})$/.test(value))
}
