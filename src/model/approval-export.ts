// The approvals export, byte for byte as the format page says. Each line holds one record and is chained to the line before; the last line
// holds the count. Checking an export needs its lines and nothing else.

import { fromUtf8, hex, utf8 } from './bytes.ts'
import { canonical } from './canonical.ts'

export const EXPORT_SCHEMA = 'inkfast/approvals/1'

/** The chain value before the first record. */
export const EXPORT_GENESIS = '0'.repeat(64)

type Sha256 = (bytes: Uint8Array) => Uint8Array

const digest = (sha256: Sha256, text: string): string => hex(sha256(utf8(text)))

const chainOf = (sha256: Sha256, sequence: number, prev: string, record: string): string =>
  digest(sha256, `${EXPORT_SCHEMA}\n${sequence}\n${prev}\n${record}`)

/** Returns the line of a record, and the chain up to it. */
export function recordLine(
  sha256: Sha256,
  sequence: number,
  prev: string,
  record: object,
): { readonly line: string; readonly chain: string } {
  const record_sha256 = digest(sha256, canonical(record))
  const chain = chainOf(sha256, sequence, prev, record_sha256)
  return { line: canonical({ schema: EXPORT_SCHEMA, sequence, prev, record_sha256, chain_sha256: chain, record }), chain }
}

/** The members that narrowed an export, by name. */
export type ExportFilter = Readonly<Record<string, string | number>>

/** The last line. An export that was narrowed repeats its filter, and its final chain covers it: without the filter the line does not match. */
export function lastLine(sha256: Sha256, count: number, chain: string, filter: ExportFilter = {}): string {
  const narrowed = Object.keys(filter).length > 0
  return canonical({
    schema: EXPORT_SCHEMA,
    count,
    chain_sha256: narrowed ? filteredChain(sha256, chain, filter) : chain,
    ...(narrowed && { filter }),
  })
}

const filteredChain = (sha256: Sha256, chain: string, filter: unknown): string =>
  digest(sha256, `${EXPORT_SCHEMA}\nfilter\n${chain}\n${canonical(filter)}`)

export interface ExportReport {
  readonly intact: boolean
  /** Number of records that were read and found intact. */
  readonly records: number
  /** The chain up to the last intact record; the final chain, if the export is intact. */
  readonly chain: string
  /** The filter of the export. Such an export is not complete: it holds the approvals that matched. */
  readonly filter?: ExportFilter
  /** The first line that differs from the export, counted from 1. */
  readonly brokenAt?: number
  readonly reason?: string
}

export interface ExportCheck {
  /** The final chain, kept outside the file. Without it, an attacker who can write the file can replace all of it unnoticed. */
  readonly chain?: string
}

/** Lines without line ends, as text or as bytes. */
export type ExportLines = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>

export async function verifyExport(sha256: Sha256, lines: ExportLines, { chain: kept }: ExportCheck = {}): Promise<ExportReport> {
  let records = 0
  let chain = EXPORT_GENESIS
  let number = 0
  let ended = false
  let filter: ExportFilter | undefined
  const broken = (reason: string, brokenAt = number): ExportReport => ({ intact: false, records, chain, brokenAt, reason })
  for await (const given of lines) {
    number++
    if (ended) return broken('there is a line after the last record')
    const line = lineOf(given)
    if (typeof line === 'string') return broken(line)
    if ('count' in line) {
      const { schema, count, chain_sha256 } = line
      const narrowed = isFilter(line.filter) ? line.filter : undefined
      if (!sameMembers(line, narrowed ? FILTERED_LAST : LAST)) return broken('its members are not those of a last line')
      if (schema !== EXPORT_SCHEMA) return broken('its schema is unknown')
      if (count !== records) return broken(`it counts ${String(count)} records, but there are ${records}`)
      const final = narrowed ? filteredChain(sha256, chain, narrowed) : chain
      if (chain_sha256 !== final) return broken('its chain does not match the records before it')
      chain = final
      filter = narrowed
      ended = true
      continue
    }
    const { schema, sequence, prev, record, record_sha256, chain_sha256 } = line
    if (!sameMembers(line, MEMBERS)) return broken('its members are not those of a record')
    if (schema !== EXPORT_SCHEMA) return broken('its schema is unknown')
    if (sequence !== records + 1) return broken(`it is record ${String(sequence)}, but record ${records + 1} was expected`)
    if (prev !== chain) return broken('it does not follow the record before it')
    if (record_sha256 !== digest(sha256, canonical(record))) return broken('its record does not match its digest')
    const next = chainOf(sha256, sequence, chain, record_sha256)
    if (chain_sha256 !== next) return broken('its chain does not match its record')
    chain = next
    records++
  }
  if (!ended) return broken('the last line is missing: the export was cut off', number + 1)
  if (kept !== undefined && kept !== chain) return broken('the export is consistent, but its final chain is not the expected one')
  return { intact: true, records, chain, ...(filter && { filter }) }
}

const MEMBERS: readonly string[] = ['chain_sha256', 'prev', 'record', 'record_sha256', 'schema', 'sequence']
const LAST: readonly string[] = ['chain_sha256', 'count', 'schema']
const FILTERED_LAST: readonly string[] = ['chain_sha256', 'count', 'filter', 'schema']

const isFilter = (given: unknown): given is ExportFilter =>
  typeof given === 'object' && given !== null && !Array.isArray(given) && Object.keys(given).length > 0

type Line = Readonly<Record<string, unknown>>

const sameMembers = (line: Line, members: readonly string[]): boolean => Object.keys(line).sort().join() === members.join()

/** Parses a line, or returns the reason why it is damaged. Only the canonical form is accepted, so that no changed byte goes unnoticed. */
function lineOf(given: string | Uint8Array): Line | string {
  try {
    const text = typeof given === 'string' ? given : fromUtf8(given)
    const line: unknown = JSON.parse(text)
    if (typeof line !== 'object' || line === null || Array.isArray(line)) return 'it is not an object'
    return canonical(line) === text ? (line as Line) : 'it is not canonical JSON (RFC 8785)'
  } catch {
    // The line was cut off, is not UTF-8, or is nested deeper than an export ever is.
    return 'it is not JSON'
  }
}
