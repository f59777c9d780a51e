// Says once that masking changed a value that a program reads back: the program goes on with a placeholder in the place of its data, and may
// hand it to another system.

import { enginePart } from '../wiring/per-engine.ts'
import type { Engine } from '../wiring/scope.ts'

const notice = enginePart(() => ({ said: false }))

/** `of` names the value, such as `the effect 'ask'`. Neither the value nor its placeholder is said. */
export function noteMasked(engine: Engine, of: string, given: unknown, masked: unknown): void {
  const known = notice(engine)
  if (known.said) return
  known.said = true
  engine.environment.logger.warn('masking changed a value that a program reads back, which is said once', {
    of,
    at: `$${placeOf(given, masked)}`,
    remedy: 'if it is no secret, pass redact: false where it is given, or open the store with its name in redact.allow',
  })
}

type Members = Readonly<Record<string, unknown>>

const isBranch = (value: unknown): value is Members => typeof value === 'object' && value !== null

/** The first place at which the two differ. Names that were masked themselves are left out. */
function placeOf(given: unknown, masked: unknown): string {
  if (!isBranch(given) || !isBranch(masked)) return ''
  const name = Object.keys(given).find((one) => Object.hasOwn(masked, one) && given[one] !== masked[one])
  if (name === undefined) return ''
  return (Array.isArray(given) ? `[${name}]` : `.${name}`) + placeOf(given[name], masked[name])
}
