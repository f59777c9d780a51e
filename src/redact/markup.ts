// Finds secrets in HTML and XML: `<password>…</password>`, password inputs, and settings with a telling name beside their value.
import type { KeyJudge } from './keys.ts'
import { absentValue, absentWord, charKind, innocentValue } from './looks.ts'
import type { Span } from './spans.ts'
import type { Undecided } from './undecided.ts'

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
      if (!secret(judge, hit[1] as string, value) || absentWord(value.trim())) continue
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
    else if (body !== undefined && body !== '' && !absentWord(body)) {
      const start = text.indexOf(body, tag.index + tag[0].length)
      spans.push({ start, end: start + body.length, kind: 'key' })
    }
  }
}

/** The longest content of an element, and the longest tag before it. */
const LONGEST_BODY = 2048
const LONGEST_TAG = 1088
const TAG_BEGUN = /^<[A-Za-z][\w.:-]{0,60}\s[^<>]{0,1024}$/
const VALUE_BEGUN = /\svalue\s{0,4}=\s{0,4}\\{0,3}["']?/i
const NAMED_TAG = /^<([A-Za-z][\w.:-]{0,60})(?:\s[^<>]{0,512})?>/
const KEY_BEFORE = /<key>([^<>]{2,64})<\/key>\s{0,64}$/
/** The beginning of the closing tag, and of the end of character data before it. */
const CLOSING_BEGUN = /(?:\]{1,2}>?)?(?:<(?:\/[a-z]{0,6})?)?$/

/** `<password>` in a sentence or in code marks: the text behind it is no content. */
const PROSE = /^(?:`|[ \t]+\S+\s+\S|[^\S\n]*\S[^\n]*\n)/

/** Tells where the value of an attribute or the content of an element begins that may be secret: the text behind it decides. */
export function openMarkup(text: string, judge: KeyJudge, undecided: Undecided): void {
  const end = text.length - (CLOSING_BEGUN.exec(text.slice(-11))?.[0].length ?? 0)
  let last = end > 0 ? text.lastIndexOf('<', end - 1) : -1
  if (last < 0 || end - last > LONGEST_BODY + LONGEST_TAG) return
  const written = text.slice(last, end)
  if (TAG_BEGUN.test(written)) {
    const value = VALUE_BEGUN.exec(written)
    if (value !== null) undecided(last + value.index + value[0].length)
    return
  }
  let body = text.indexOf('>', last) + 1
  if (written.startsWith('<![CDATA[')) {
    body = last + '<![CDATA['.length
    last = text.lastIndexOf('<', last - 1)
  } else if (written.startsWith('<value>') || written.startsWith('<string>')) {
    const before = text.slice(Math.max(0, last - LONGEST_TAG), last)
    const key = KEY_BEFORE.exec(before)?.[1]
    if (key !== undefined && secret(judge, key, '')) {
      undecided(body)
      return
    }
    if (written.startsWith('<value>')) last = text.lastIndexOf('<', last - 1)
  }
  if (last < 0 || body <= 0 || end - body > LONGEST_BODY || text.slice(body, end).includes('>')) return
  if (PROSE.test(text.slice(body, end))) return
  const tag = text.slice(last, body)
  const name = NAMED_TAG.exec(tag)?.[1]
  if (name !== undefined && (secret(judge, name, '') || namesSecret(tag, judge))) undecided(body)
}

function namesSecret(tag: string, judge: KeyJudge): boolean {
  for (const hit of tag.matchAll(ATTRIBUTE)) {
    const name = (hit[1] as string).toLowerCase()
    const said = hit[2] ?? (hit[3] as string)
    if (name === 'type' && said.toLowerCase() === 'password') return true
    if ((name === 'key' || name === 'name') && secret(judge, said.slice(said.lastIndexOf('.') + 1), '')) return true
  }
  return false
}

function secret(judge: KeyJudge, name: string, value: string): boolean {
  const kind = judge(name)
  // `<token>identifier</token>` is the output of a parser.
  return kind === 'all' || (kind === 'text' && !/^(?:\d+|[A-Za-z_]{1,20})$/.test(value))
}
