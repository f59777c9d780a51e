// Marks text that was recalled into a prompt, so that a program that remembers its conversation does not remember it again.

const BEGIN = '<recalled-memory>'
const END = '</recalled-memory>'
const MARKED = /<recalled-memory>[\s\S]*?(?:<\/recalled-memory>|$)/g

/** The texts as a block for a prompt, one line each. A text that holds a mark itself cannot end the block. */
export function quoteTexts(texts: readonly string[]): string {
  if (texts.length === 0) return ''
  return [BEGIN, ...texts.map((text) => `- ${text.replaceAll(BEGIN, '').replaceAll(END, '')}`), END].join('\n')
}

/** The text without the blocks that were recalled. */
export const withoutRecalled = (text: string): string => (text.includes(BEGIN) ? text.replace(MARKED, '') : text)
