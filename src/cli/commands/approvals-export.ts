// The export of approvals, byte for byte, and its check, which needs no store.

import { createReadStream, statSync } from 'node:fs'
import { type ExportReport, verifyApprovals } from '../../index.ts'
import { EXIT, type Exit, usage } from '../exit.ts'
import { one } from '../format.ts'
import { tenantView, withStore } from '../store.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'
import { given, onlyStore } from '../words.ts'
import { type FilterOptions, filterOf } from './approvals-filter.ts'

export interface ExportOptions extends FilterOptions {
  readonly after?: number
  readonly tenant?: string
}

export function exportApprovals(t: Terminal, words: readonly string[], options: ExportOptions): Promise<Exit> {
  const url = onlyStore(words)
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    let last = ''
    for await (const line of store.approvals.export({ ...(await filterOf(store, options)), ...given({ after: options.after }) })) {
      t.signal.throwIfAborted()
      // A file gets every byte unchanged. On a terminal, escape sequences in a subject are made harmless.
      t.out(t.width === undefined ? line : harmless(line))
      await t.room()
      last = line
    }
    const { count, chain_sha256, filter } = JSON.parse(last) as Last
    t.note(`${one(count, 'approval')}; keep the final chain somewhere else: ${chain_sha256}`)
    if (filter) t.note(`Filtered by ${filterText(filter)}: the export holds the approvals that match, not all of them.`)
    if (t.width !== undefined) t.note('Redirect the output to a file to verify it later.')
    return EXIT.fine
  })
}

interface Last {
  readonly count: number
  readonly chain_sha256: string
  readonly filter?: NonNullable<ExportReport['filter']>
}

const filterText = (filter: NonNullable<ExportReport['filter']>): string =>
  harmless(
    Object.entries(filter)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
  )

export async function verifyExport(t: Terminal, [file, ...more]: readonly string[], { chain }: { readonly chain?: string }): Promise<Exit> {
  if (file === undefined) throw usage('Missing <file>: write the path of an export, or - for stdin.')
  if (more.length > 0) throw usage(`Unexpected argument '${more[0]}'.`)
  if (chain !== undefined && !/^[0-9a-f]{64}$/.test(chain)) throw usage('--chain: expected 64 hex digits in lower case.')
  if (file !== '-' && statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw usage(`${file} is a folder. Write the path of an export.`)
  const bytes = file === '-' ? process.stdin : createReadStream(file)
  const report = await verifyApprovals(linesOf(bytes, t.signal), given({ chain }))
  if (t.json) t.out(jsonLine(report))
  else if (report.intact) {
    t.out(verdict(t, 'ok', `intact: ${one(report.records, 'approval')}, none changed since the export; final chain ${report.chain}`))
    if (report.filter)
      t.out(verdict(t, 'warn', `filtered by ${filterText(report.filter)}: it holds the approvals that matched, not all of them`))
    if (chain === undefined) t.out(t.paint('dim', 'Based on the file alone. Compare it with a chain kept elsewhere: --chain.'))
  } else {
    t.out(verdict(t, 'fail', `line ${report.brokenAt}: ${report.reason}; the ${one(report.records, 'approval')} before it are unchanged`))
    t.out(`${t.paint('bold', 'What to do: ')}keep this file as it is, and export again from the store.`)
  }
  return report.intact ? EXIT.fine : EXIT.unsound
}

const LINE_FEED = 10

/** Splits bytes, not text: bytes that are not UTF-8 must not be replaced. */
async function* linesOf(chunks: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  let rest: Buffer[] = []
  for await (const chunk of chunks) {
    signal.throwIfAborted()
    let from = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, end)])
      rest = []
      from = end + 1
    }
    if (from < chunk.length) rest.push(chunk.subarray(from))
  }
  if (rest.length > 0) yield Buffer.concat(rest)
}
