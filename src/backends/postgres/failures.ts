// Translates errors of the server and the network. Messages name the place and never contain a password.

import { type ErrorCode, InkError, refuse } from '../../model/errors.ts'

export const codeOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !networkCodes.has(code) ? code : undefined
}

const networkCodes = new Set(['EPIPE'])

/** Two transactions collided. Nothing was saved, and a retry may succeed. */
export const isPassing = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error) ?? '')

/** The server is up and accepts no connections yet: it recovers after a crash. */
export const isStartingUp = (error: unknown): boolean => codeOf(error) === '57P03'

/** A prepared statement is missing, unknown, or outdated by a migration. Nothing was saved. */
export const isStalePlan = (error: unknown): boolean => ['26000', '42P05', '0A000'].includes(codeOf(error) ?? '')

/** The server refused the whole batch because of one of its commits. Nothing was saved. */
export const isChoking = (error: unknown): error is InkError => error instanceof InkError && error.code === 'BACKEND_FAILED'

const byState: Readonly<Record<string, ErrorCode>> = {
  '28P01': 'DATABASE_LOGIN_REFUSED',
  '28000': 'DATABASE_LOGIN_REFUSED',
  '3D000': 'DATABASE_MISSING',
  '42501': 'DATABASE_RIGHT_MISSING',
  '25006': 'DATABASE_READ_ONLY',
  '53100': 'DATABASE_FULL',
  '53200': 'DATABASE_BUSY',
  '53300': 'DATABASE_BUSY',
  '55P03': 'DATABASE_BUSY',
  '57014': 'DATABASE_BUSY',
  '40001': 'DATABASE_BUSY',
  '40P01': 'DATABASE_BUSY',
  IF002: 'TENANT_KEY_WRONG',
}

const said = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(said).join('; ')
  return error instanceof Error ? error.message : String(error)
}

/** No answer came, or the server shut down: the outcome is unknown. */
export const isLost = (error: unknown): boolean => {
  if (error instanceof InkError) return false
  const state = codeOf(error)
  return state === undefined || isFarewell(state)
}

/**
 * While connecting or reading, any failure means that nothing was saved. While writing, an unanswered statement has an unknown outcome, and
 * its error is passed on unchanged.
 */
export function translate(place: string, error: unknown, when: 'connecting' | 'reading' | 'writing', setting = 'url'): unknown {
  if (error instanceof InkError) return error
  const state = codeOf(error)
  const reason = said(error)
  if (state === 'IF001') {
    const [, tenant, now] = /^inkfast: tenant (\S+) is (\w+)$/.exec(reason) ?? []
    return refuse('TENANT_CLOSED', { tenant, state: now })
  }
  const known = state && byState[state]
  if (known) return refuse(known, { place, reason, setting }, plain(error))
  if (isLost(error) || when === 'connecting') {
    if (when === 'writing') return error
    if (isUnproven(reason)) return refuse('DATABASE_LOGIN_REFUSED', { place, reason, setting }, plain(error))
    if (isUntrusted(error, reason)) return refuse('DATABASE_TLS_FAILED', { place, reason }, plain(error))
    return refuse(
      isFull(reason) ? 'DATABASE_BUSY' : 'DATABASE_UNREACHABLE',
      { place, reason, setting, away: isAway(error, reason) },
      plain(error),
    )
  }
  return refuse('BACKEND_FAILED', { reason }, plain(error))
}

/** The driver has no usable password, and the server asks for one. */
const isUnproven = (reason: string): boolean => reason.startsWith('SASL')

const AWAY = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'ECONNRESET', 'EPIPE', '57P03'])

/** The server is unreachable: no such host, no listener, no answer, or it is just starting. */
const isAway = (error: unknown, reason: string): boolean => {
  if (error instanceof AggregateError) return error.errors.some((one) => isAway(one, said(one)))
  const { code, syscall } = error as { readonly code?: unknown; readonly syscall?: unknown }
  // A missing file is a wrong option; a missing socket is a server that is down.
  if (code === 'ENOENT') return syscall === 'connect'
  return (typeof code === 'string' && AWAY.has(code)) || /connection timeout|timeout expired|terminated unexpectedly/i.test(reason)
}

/** The server answers, but TLS fails: a certificate, the protocol, or a key file that cannot be read. */
const isUntrusted = (error: unknown, reason: string): boolean => {
  const { code, syscall } = error as { readonly code?: unknown; readonly syscall?: unknown }
  return (code === 'ENOENT' && syscall === 'open') || /\bSSL\b|\bTLS\b|certificate|self.signed/i.test(`${String(code)} ${reason}`)
}

const isFull = (reason: string): boolean => reason.includes('timeout exceeded when trying to connect')

/** The server shut down or the connection broke: class 08, and shutdown by the administrator or the server. */
const isFarewell = (state: string): boolean => state.startsWith('08') || state.startsWith('57P') || state.startsWith('58')

// Driver errors contain parts of the statement; only the message and the code are kept.
const plain = (error: unknown): Error => {
  const state = codeOf(error)
  return new Error(state ? `${said(error)} (SQLSTATE ${state})` : said(error))
}
