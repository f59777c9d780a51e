// Everything that an error or a log shows to whoever looks long enough, and whether a secret is in it.

import { inspect } from 'node:util'
import { expect } from 'vitest'
import type { ErrorCode, StoreOptions } from '../../src/index.ts'

/** Hidden members, causes of causes and accessors too. */
export const everythingIn = (value: unknown): string => inspect(value, { depth: Infinity, showHidden: true, getters: true })

/** As it was typed and as it stands in a URL. */
export const isIn = (text: string, secret: string): boolean => [secret, encodeURIComponent(secret)].some((form) => text.includes(form))

/** The failure has this code and shows none of these; returns what it says. */
export async function refused(attempt: Promise<unknown>, code: ErrorCode, ...secrets: readonly string[]): Promise<string> {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toMatchObject({ name: 'InkError', code })
  const shown = everythingIn(error)
  for (const secret of secrets) if (isIn(shown, secret)) throw new Error(`the refusal ${code} shows a secret`)
  return (error as Error).message
}

/** A logger that forgets nothing. */
export function keepingLog(): { readonly logger: NonNullable<StoreOptions['logger']>; readonly lines: readonly string[] } {
  const lines: string[] = []
  const keep = (message: string, details: unknown) => void lines.push(message, everythingIn(details))
  return { logger: { info: keep, warn: keep, error: keep }, lines }
}
