// Objects in a file that others made: which of them would act on our tables. Their SQL is read as words, and never compiled or run. SQLite has
// parsed it when it loaded the schema, so it is well-formed.

export interface SchemaObject {
  readonly type: string
  readonly name: string
  readonly owner: string
  /** Null for the index of a key. */
  readonly sql: string | null
}

interface Word {
  /** In lower case, as names are compared. */
  readonly text: string
  readonly quoted: boolean
}

/** Says in words how the object touches one of our tables; undefined if it leaves them alone. */
export function touchesOurs({ type, name, owner, sql }: SchemaObject, tables: ReadonlySet<string>): string | undefined {
  // The index of a key has no text, and belongs to the table that names it.
  if (sql === null) return undefined
  // SQLite refuses to load an object whose text has another type, name or owner than its row.
  if (type === 'trigger' || type === 'index') {
    const target = owner.toLowerCase()
    return tables.has(target) ? `the ${type} ${name} on ${target} is not ours` : undefined
  }
  const words = wordsOf(sql)
  const touched = (type === 'view' ? sourcesOf(words) : referencesOf(words)).find((one) => tables.has(one))
  if (touched === undefined) return undefined
  return type === 'view'
    ? `the view ${name} on ${touched} is not ours`
    : `the table ${name} has a foreign key to ${touched} and is not ours`
}

const isKey = (word: Word | undefined, ...keys: readonly string[]): boolean =>
  word !== undefined && !word.quoted && keys.includes(word.text)

/** A name, or the one behind the name of its database. */
const nameAt = (words: readonly Word[], at: number): string | undefined =>
  words[at + 1]?.text === '.' ? words[at + 2]?.text : words[at]?.text

const referencesOf = (words: readonly Word[]): readonly string[] =>
  words.flatMap((_, i) => (isKey(words[i - 1], 'references') ? (nameAt(words, i) ?? []) : []))

/** Names in the places where a query names its tables: behind FROM and JOIN, and behind the commas and brackets there. */
function sourcesOf(words: readonly Word[]): readonly string[] {
  const sources: string[] = []
  const outer: boolean[] = []
  let among = false
  for (const [i, word] of words.entries()) {
    if (isKey(word, '(')) outer.push(among)
    else if (isKey(word, ')')) among = outer.pop() ?? false
    else if (isKey(word, 'from', 'join')) among = true
    else if (isKey(word, 'select', 'where', 'group', 'having', 'order', 'limit', 'window', 'union', 'intersect', 'except')) among = false
    else if (among && isKey(words[i - 1], 'from', 'join', ',', '(')) sources.push(nameAt(words, i) ?? '')
  }
  return sources
}

// Comments are left out. Within quotes, a doubled quote stands for itself.
const WORDS = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"]|"")*"|'(?:[^']|'')*'|`(?:[^`]|``)*`|\[[^\]]*\]|[\w$\u0080-\uffff]+|[^\s]/g

function wordsOf(sql: string): readonly Word[] {
  const words: Word[] = []
  for (const [text] of sql.matchAll(WORDS)) {
    const [first] = text
    if (text.startsWith('--') || text.startsWith('/*')) continue
    const quoted = text.length > 1 && (first === '"' || first === "'" || first === '`' || first === '[')
    words.push({ text: (quoted ? unquoted(text) : text).toLowerCase(), quoted })
  }
  return words
}

function unquoted(text: string): string {
  const inner = text.slice(1, -1)
  const quote = text[0] as string
  return quote === '[' ? inner : inner.replaceAll(quote + quote, quote)
}
