// Keys of `store.state` for threads: `lg/<thread>/<namespace>`, with `%` and `/` escaped.

export interface ThreadKey {
  readonly thread: string
  readonly namespace: string
}

const PREFIX = 'lg/'

export const keyOf = ({ thread, namespace }: ThreadKey): string => `${prefixOf(thread)}${escapeText(namespace)}`

/** Begins the keys of a thread, or of all threads. */
export const prefixOf = (thread?: string): string => (thread === undefined ? PREFIX : `${PREFIX}${escapeText(thread)}/`)

export function ofKey(key: string): ThreadKey {
  const [thread = '', namespace = ''] = key.slice(PREFIX.length).split('/')
  return { thread: unescapeText(thread), namespace: unescapeText(namespace) }
}

export const escapeText = (text: string): string => text.replaceAll('%', '%25').replaceAll('/', '%2F')
export const unescapeText = (text: string): string => text.replaceAll('%2F', '/').replaceAll('%25', '%')
