// Reading our own pages: tables, headings and code blocks.

export interface Heading {
  readonly depth: number
  readonly text: string
  /** Everything below it, up to the next heading of its depth or above. */
  readonly body: string
}

const unquote = (text: string): string => text.replaceAll('`', '').trim()

export function headingsOf(page: string): readonly Heading[] {
  const lines = page.split('\n')
  const marks: { at: number; depth: number; text: string }[] = []
  let fenced = false
  lines.forEach((line, at) => {
    if (line.startsWith('```')) fenced = !fenced
    const match = fenced ? null : /^(#{1,6}) (.+)$/.exec(line)
    if (match) marks.push({ at, depth: (match[1] as string).length, text: unquote(match[2] as string) })
  })
  return marks.map(({ at, depth, text }, i) => {
    const next = marks.slice(i + 1).find((mark) => mark.depth <= depth)
    return { depth, text, body: lines.slice(at + 1, next?.at).join('\n') }
  })
}

export function sectionOf(page: string, heading: string): string {
  const found = headingsOf(page).find(({ text }) => text === heading)
  if (!found) throw new Error(`The page has no heading '${heading}'.`)
  return found.body
}

/** The first table whose head begins with these columns, as one record per row. */
export function tableOf(page: string, ...columns: readonly string[]): readonly Readonly<Record<string, string>>[] {
  const rows = page.split('\n').map((line) => (line.startsWith('|') ? cells(line) : undefined))
  const at = rows.findIndex((row) => row && columns.every((column, i) => row[i] === column))
  if (at < 0) throw new Error(`The page has no table with the columns ${columns.join(', ')}.`)
  const head = rows[at] as readonly string[]
  const records: Record<string, string>[] = []
  for (const row of rows.slice(at + 2)) {
    if (!row) break
    records.push(Object.fromEntries(head.map((column, i) => [column, row[i] ?? ''])))
  }
  return records
}

// A bar inside a cell is written with a backslash.
const cells = (line: string): readonly string[] =>
  line
    .slice(1)
    .split(/(?<!\\)\|/)
    .slice(0, -1)
    .map((cell) => unquote(cell.replaceAll('\\|', '|')))

export interface Block {
  readonly language: string
  readonly text: string
  readonly line: number
}

export function blocksOf(page: string): readonly Block[] {
  const blocks: Block[] = []
  const lines = page.split('\n')
  for (let i = 0; i < lines.length; i++) {
    const open = /^```(\S*)/.exec(lines[i] as string)
    if (!open) continue
    const end = lines.indexOf('```', i + 1)
    if (end < 0) throw new Error(`The block at line ${i + 1} is never closed.`)
    blocks.push({ language: open[1] as string, text: lines.slice(i + 1, end).join('\n'), line: i + 2 })
    i = end
  }
  return blocks
}
