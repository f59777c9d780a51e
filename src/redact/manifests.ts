// Finds the values of Kubernetes secrets in YAML: everything below `data` and `stringData` of a document of `kind: Secret`.
import { absentValue } from './looks.ts'
import type { Span } from './spans.ts'
import type { Undecided } from './undecided.ts'

const KIND = /(?:^|[\s"'`=])kind:[ \t]{1,8}["']?Secret["']?[ \t\r]{0,8}$/m
const DOCUMENT = /^---/m
const SECTION = /^([ \t]{0,32})(?:data|stringData):[ \t]*\r?$/gm
const ENTRY = /^([ \t]{1,64})[^\s:#][^:\n]{0,256}:[ \t]{1,8}(["']?)([^\s"'][^\r\n]*?)\2[ \t]{0,64}\r?$/
const BLOCK = /^[|>][+-]?$/

export function manifestSpans(text: string, spans: Span[]): void {
  let start = 0
  for (const document of text.split(DOCUMENT)) {
    if (KIND.test(document)) for (const section of document.matchAll(SECTION)) read(document, start, section, spans)
    start += document.length + 3
  }
}

/** `kind` follows `data` this closely when members are in alphabetical order. */
const KIND_CHARS = 256
const KIND_LINE = /^[ \t]{0,32}kind:[^\n]*\n/m
const VALUE = /^[ \t]{1,64}[^\s:#][^:\n]{0,256}:[ \t]{1,8}["']?(?=\S)/
/** A value under `data` is base64. Any other word tells that the section is not that of a secret. */
const BASE64 = /^(?:[|>][+-]?|["']?(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={1,2})?["']?)[ \t\r]*$/

/** Tells where the values begin whose line has not ended, or whose kind may still come. */
export function openManifest(text: string, undecided: Undecided): void {
  if (!text.includes('ata:')) return
  const start = text.lastIndexOf('\n---') + 1
  const document = text.slice(start)
  let isSecret: boolean | undefined
  for (const section of document.matchAll(SECTION)) {
    isSecret ??= KIND.test(document)
    const place = openSection(document, section, isSecret)
    if (place !== undefined) undecided(start + place)
  }
}

function openSection(document: string, section: RegExpExecArray, isSecret: boolean): number | undefined {
  const indent = (section[1] as string).length
  const encoded = document.startsWith('data', section.index + indent)
  let first: number | undefined
  let at = section.index + section[0].length + 1
  while (at < document.length) {
    const stop = document.indexOf('\n', at)
    const end = stop < 0 ? document.length : stop
    const line = document.slice(at, end)
    const depth = line.length - line.trimStart().length
    if (line.trim() !== '') {
      if (depth <= indent) break
      const value = at + (VALUE.exec(line)?.[0].length ?? depth)
      if (isSecret && stop < 0) return value
      if (!isSecret && stop >= 0 && encoded && !BASE64.test(document.slice(value, end))) return undefined
      first ??= value
    }
    at = end + 1
  }
  const rest = document.slice(at)
  return isSecret || rest.length >= KIND_CHARS || KIND_LINE.test(rest) ? undefined : first
}

/** Reads the lines that are indented deeper than the section. */
function read(document: string, offset: number, section: RegExpExecArray, spans: Span[]): void {
  const indent = (section[1] as string).length
  let block = -1
  for (let at = section.index + section[0].length + 1; at < document.length; ) {
    const stop = document.indexOf('\n', at)
    const end = stop < 0 ? document.length : stop
    const line = document.slice(at, end)
    const depth = line.length - line.trimStart().length
    if (line.trim() !== '' && depth <= indent) return
    if (block >= 0 && depth > block) push(line.trim(), at + line.indexOf(line.trim()))
    else {
      const entry = ENTRY.exec(line)
      const value = entry?.[3] ?? ''
      block = BLOCK.test(value) ? depth : -1
      if (value !== '' && block < 0) push(value, at + line.lastIndexOf(value))
    }
    at = end + 1
  }

  function push(value: string, from: number): void {
    if (!absentValue(value)) spans.push({ start: offset + from, end: offset + from + value.length, kind: 'key' })
  }
}
