// Lines whose columns stand under each other, and numbers at a width people can read.

export function table(rows: readonly (readonly string[])[], indent = '  '): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => shown(row[column] ?? ''))))
  const line = (row: readonly string[]) =>
    indent +
    row
      .map((cell, column) => (column === 0 ? cell + pad(cell, widths[column]) : pad(cell, widths[column]) + cell))
      .join('   ')
      .trimEnd()
  return rows.map(line).join('\n')
}

const shown = (text: string): number => [...text].length
const pad = (text: string, width = 0): string => ' '.repeat(Math.max(0, width - shown(text)))

/** Three digits that matter, thousands told apart. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  if (size >= 1000) return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ' ')
  if (Number.isInteger(value)) return String(value)
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)
}
