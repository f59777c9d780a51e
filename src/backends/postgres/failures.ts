// What a server or a network says when something goes wrong, in our words. A password is in none of them: only the place is named.

import { type ErrorCode, InkError, refuse } from '../../model/errors.ts'

export const codeOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !networkCodes.has(code) ? code : undefined
}

const networkCodes = new Set(['EPIPE'])

/** Two transactions got in each other's way; the same again may well succeed. Nothing was saved. */
export const isPassing = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error) ?? '')

/** It is there and takes no connections yet: after a crash, while it recovers. */
export const isStartingUp = (error: unknown): boolean => codeOf(error) === '57P03'

/** What was prepared is gone, was never there, or has another shape since a migration. Nothing was saved. */
export const isStalePlan = (error: unknown): boolean => ['26000', '42P05', '0A000'].includes(codeOf(error) ?? '')

/** The server refused a batch as a whole, for a reason that lies in one of its commits. Nothing was saved. */
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

/** No answer came, or only a farewell: what was asked may or may not have been done. */
export const isLost = (error: unknown): boolean => {
  if (error instanceof InkError) return false
  const state = codeOf(error)
  return state === undefined || isFarewell(state)
}

/**
 * While connecting or reading, every failure means that nothing was saved. While writing, one without an answer leaves that open, and so it
 * is handed on as it is.
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

/** The driver has no password, or not one it can use, where the server asks for one. */
const isUnproven = (reason: string): boolean => reason.startsWith('SASL')

const AWAY = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'ECONNRESET', 'EPIPE', '57P03'])

/** Nobody is there: no such host, nobody who listens, no answer, or a server that is only just starting. */
const isAway = (error: unknown, reason: string): boolean => {
  if (error instanceof AggregateError) return error.errors.some((one) => isAway(one, said(one)))
  const { code, syscall } = error as { readonly code?: unknown; readonly syscall?: unknown }
  // A file that is not there is a wrong option; a socket that is not there is a server that is away.
  if (code === 'ENOENT') return syscall === 'connect'
  return (typeof code === 'string' && AWAY.has(code)) || /connection timeout|timeout expired|terminated unexpectedly/i.test(reason)
}

/** There is somebody, and no agreement on how to speak in private: certificates, TLS, or a file of one that cannot be read. */
const isUntrusted = (error: unknown, reason: string): boolean => {
  const { code, syscall } = error as { readonly code?: unknown; readonly syscall?: unknown }
  return (code === 'ENOENT' && syscall === 'open') || /\bSSL\b|\bTLS\b|certificate|self.signed/i.test(`${String(code)} ${reason}`)
}

const isFull = (reason: string): boolean => reason.includes('timeout exceeded when trying to connect')

/** The server went away, or the connection did: class 08, and its administrator's or its own shutting down. */
const isFarewell = (state: string): boolean => state.startsWith('08') || state.startsWith('57P') || state.startsWith('58')

// Errors of the driver carry parts of the statement and its context; what a person needs is its text and its code.
const plain = (error: unknown): Error => {
  const state = codeOf(error)
  return new Error(state ? `${said(error)} (SQLSTATE ${state})` : said(error))
}
