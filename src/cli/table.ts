// Aligns rows in columns. The last column is cut to the terminal's width, so that one event is one line.

import type { Style, Terminal } from './terminal.ts'
import { cut, displayWidth, harmless, padEnd, padStart } from './text.ts'

export interface Column {
  readonly title: string
  readonly right?: boolean
  /** Maximum width on a terminal. The last column takes the remaining width instead. */
  readonly most?: number
  /** Minimum width, because a tail does not know the rows to come. */
  readonly least?: number
  /** Hidden while all its cells are empty. */
  readonly optional?: boolean
  readonly style?: Style | ((cell: string) => Style)
}

const GAP = '  '
const LEAST_OF_LAST = 12
const LEAST_OF_CUT = 8

export class Table {
  readonly #terminal: Terminal
  readonly #columns: readonly Column[]
  readonly #widths: number[]

  constructor(terminal: Terminal, columns: readonly Column[]) {
    this.#terminal = terminal
    // Nothing is cut in a pipe, which has no width.
    this.#columns = terminal.width === undefined ? columns.map(({ most: _, ...column }) => column) : columns
    this.#widths = columns.map((c) => (c.optional ? 0 : Math.max(c.least ?? 0, displayWidth(c.title))))
  }

  /** Widens the columns for these rows. */
  fit(rows: readonly (readonly string[])[]): this {
    for (const row of rows) for (const [i, cell] of row.entries()) this.#grow(i, cell)
    return this
  }

  /** The remaining width of the terminal for the last column. */
  get room(): number {
    const others = this.#widths.slice(0, -1).filter((width, i) => width > 0 || !this.#columns[i]?.optional)
    return (this.#terminal.width ?? Infinity) - others.reduce((sum, width) => sum + width + GAP.length, 0)
  }

  /** Narrows the columns that may be cut, widest first, until a line fits or nothing more can be taken. */
  narrowed(): readonly Column[] {
    const widths = [...this.#widths]
    const spare = (i: number): number => (widths[i] as number) - Math.max(LEAST_OF_CUT, displayWidth(this.#columns[i]?.title ?? ''))
    const cuttable = [...this.#columns.keys()].slice(0, -1).filter((i) => this.#columns[i]?.most !== undefined)
    for (let over = -this.room - GAP.length; over > 0; over--) {
      const [widest] = cuttable.filter((i) => spare(i) > 0).sort((a, b) => (widths[b] as number) - (widths[a] as number))
      if (widest === undefined) break
      widths[widest] = (widths[widest] as number) - 1
    }
    return this.#columns.map((column, i) => (widths[i] === this.#widths[i] ? column : { ...column, most: widths[i] as number }))
  }

  head(): string {
    return this.#terminal.paint(
      'dim',
      this.#line(
        this.#columns.map((c) => c.title),
        false,
      ),
    )
  }

  row(cells: readonly string[]): string {
    for (const [i, cell] of cells.entries()) this.#grow(i, cell)
    return this.#line(cells, true)
  }

  #grow(i: number, cell: string): void {
    const column = this.#columns[i]
    if (!column || cell === '') return
    const width = Math.max(Math.min(displayWidth(harmless(cell)), column.most ?? Infinity), displayWidth(column.title))
    if (width > (this.#widths[i] as number)) this.#widths[i] = width
  }

  #line(cells: readonly string[], styled: boolean): string {
    const last = this.#columns.length - 1
    const parts: string[] = []
    let used = 0
    for (const [i, column] of this.#columns.entries()) {
      const width = this.#widths[i] as number
      if (width === 0 && column.optional) continue
      let cell = harmless(cells[i] ?? '')
      if (i < last || column.right) cell = cut(cell, width)
      else if (this.#terminal.width !== undefined) cell = cut(cell, Math.max(LEAST_OF_LAST, this.#terminal.width - used))
      const placed = column.right ? padStart(cell, width) : i === last ? cell : padEnd(cell, width)
      const style = typeof column.style === 'function' ? column.style(cell) : column.style
      parts.push(styled && style ? this.#terminal.paint(style, placed) : placed)
      used += width + GAP.length
    }
    return parts.join(GAP).trimEnd()
  }
}

/** ✓ or ✗, in its colour. */
export const markColumn: Column = { title: '', style: (cell) => (cell === '✓' ? 'green' : 'red') }

/** Prints a whole table at once. */
export function printTable(terminal: Terminal, columns: readonly Column[], rows: readonly (readonly string[])[], indent = ''): void {
  const table = new Table(terminal, columns).fit(rows)
  terminal.out(indent + table.head())
  for (const row of rows) terminal.out(indent + table.row(row))
}

// From this width on the last column is cut. On narrower terminals it is printed below, because an id alone takes a third of the line.
const WIDE = 120

/** Prints a table whose last column is a sentence. On a narrow terminal it is printed below its row. */
export function printList(t: Terminal, columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  const { width = WIDE } = t
  if (width >= WIDE) {
    printTable(t, columns, rows)
    return
  }
  const whole = new Table(t, columns).fit(rows)
  const { room } = whole
  const fits = (text: string): boolean => room >= LEAST_OF_LAST && displayWidth(text) <= room
  const narrow = whole.narrowed()
  const last = columns.at(-1) as Column
  const table = new Table(t, fits(last.title) ? narrow : [...narrow.slice(0, -1), { ...last, title: '' }]).fit(rows)
  t.out(table.head())
  for (const cells of rows) {
    const sentence = harmless(cells.at(-1) ?? '')
    if (sentence === '' || fits(sentence)) t.out(table.row(cells))
    else {
      t.out(table.row([...cells.slice(0, -1), '']))
      t.out(t.paint('dim', `  ${cut(sentence, width - 2)}`))
    }
  }
}
