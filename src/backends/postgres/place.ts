// The name of a database as messages may show it. This file is loaded with every store, so it does not load the driver.

import { refuse } from '../../model/errors.ts'

/** Returns host and database, never login or password. Text that is not a URL is not repeated at all. */
export function placeOf(url: string): { readonly place: string; readonly local: boolean } {
  // With a login and no host, the address leads to a socket that is named in the query.
  const parsed = URL.parse(url) ?? URL.parse(url.replace('@/', '@localhost/'))
  if (parsed === null || isTorn(parsed)) throw notAnAddress()
  // The driver takes the last of several values.
  const asked = (name: string) => parsed.searchParams.getAll(name).at(-1)
  const host = asked('host') || decoded(parsed.hostname) || (process.env.PGHOST ?? '')
  const database = decoded(parsed.pathname.slice(1))
  const socket = host === '' || host.startsWith('/')
  const local = socket || host === 'localhost' || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
  const port = asked('port') || parsed.port
  return { place: `postgres://${socket ? 'socket' : host}${port === '' ? '' : `:${port}`}/${database}`, local }
}

/** An unescaped character of a password (# / ? @) splits the URL in the wrong place: its pieces would be shown as host, port or name. */
const isTorn = ({ hash, pathname, search }: URL): boolean => hash !== '' || pathname.includes('@') || search.includes('@')

const notAnAddress = () => refuse('URL_UNKNOWN', { url: 'postgres://… (a password with special characters is percent-encoded)' })

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // The original error would repeat the text.
    throw notAnAddress()
  }
}
