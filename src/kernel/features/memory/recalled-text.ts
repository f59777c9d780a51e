// Marks text that was recalled into a prompt, so that a program that remembers its conversation does not remember it again.

const BEGIN = '<recalled-memory>'
const END = '</recalled-memory>'
/** The first character of a mark. Removing marks would not do: a mark around another one would be left. */
const MARK = /<(?=\/?recalled-memory>)/g
const MARKED = /<recalled-memory>[\s\S]*?(?:<\/recalled-memory>|$)/g

/** The texts as a block for a prompt, one line each. A text that holds a mark itself cannot end the block: the mark is escaped. */
export function quoteTexts(texts: readonly string[]): string {
  if (texts.length === 0) return ''
  return [BEGIN, ...texts.map((text) => `- ${text.replaceAll(MARK, '&lt;')}`), END].join('\n')
}

/** The text without the blocks that were recalled. */
export const withoutRecalled = (text: string): string => (text.includes(BEGIN) ? text.replace(MARKED, '') : text)
