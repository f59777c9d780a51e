// Lists as PostgreSQL reads them in text: `{1,2}`.

// An empty list is sent as null, which the server need not parse.
export const list = (items: readonly string[]): string | null => (items.length === 0 ? null : `{${items.join(',')}}`)
export const numbers = (items: readonly number[] | undefined): string | null =>
  items === undefined || items.length === 0 ? null : `{${items.join(',')}}`

const PLAIN = /^[A-Za-z0-9._:/-]+$/
export const texts = (items: readonly string[]): string | null => list(items.map(textItem))
// An unquoted NULL in any case means null in an array.
export const textItem = (text: string): string =>
  PLAIN.test(text) && text.toLowerCase() !== 'null' ? text : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
