// Finds the role and the text of a message in a payload, for titles, previews and lists. Payloads of any other shape are no messages.

export interface MessageSummary {
  readonly role: string
  readonly text: string
}

const SUMMARY_CHARS = 200
const TITLE_CHARS = 80
const SCANNED = 64

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Undefined unless the payload, or its member `message`, has a role. */
export function summaryOf(payload: unknown): MessageSummary | undefined {
  if (!isObject(payload)) return undefined
  const message = typeof payload.role === 'string' ? payload : isObject(payload.message) ? payload.message : undefined
  if (!message || typeof message.role !== 'string') return undefined
  return { role: message.role, text: cut(textOf(message)) }
}

/** A title from the first message of the user. */
export const titleOf = (text: string): string => [...text].slice(0, TITLE_CHARS).join('')

function textOf(message: Members): string {
  for (const content of [message.parts, message.content, message.text]) {
    if (typeof content === 'string') return content
    if (!Array.isArray(content)) continue
    const texts = content.slice(0, SCANNED).flatMap((part: unknown) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []))
    if (texts.length > 0) return texts.join(' ')
  }
  return ''
}

/** One line, cut between characters. */
function cut(text: string): string {
  const line = text
    .slice(0, SUMMARY_CHARS * 4)
    .replace(/\s+/gu, ' ')
    .trim()
  const characters = [...line]
  return characters.length <= SUMMARY_CHARS ? line.toWellFormed() : `${characters.slice(0, SUMMARY_CHARS - 1).join('')}…`.toWellFormed()
}
