// Tells the log that something has failed for good: one line that says what it was, why, and where to look.

import { MAIN } from '../../model/ids.ts'
import type { ErrorData } from '../../model/run.ts'
import type { Scope } from '../wiring/scope.ts'

export interface Failed {
  /** 'a run has failed' */
  readonly what: string
  /** Names it: its id, its name, its queue. */
  readonly of: Readonly<Record<string, unknown>>
  readonly error: ErrorData
  /** The command that shows it, without its store: `runs show <id>`. */
  readonly look: { readonly verb: string; readonly words: readonly string[] }
}

export function logFailure({ engine, tenant }: Scope, { what, of, error, look }: Failed): void {
  const { name, code, message } = error
  const ofTenant = tenant === MAIN ? '' : ` --tenant ${tenant}`
  engine.environment.logger.warn(what, {
    ...of,
    ...(tenant !== MAIN && { tenant }),
    error: `${code ?? name}: ${message}`,
    ...(error.cause && { cause: `${error.cause.code ?? error.cause.name}: ${error.cause.message}` }),
    look: `inkfast ${look.verb} … ${look.words.join(' ')}${ofTenant}`,
  })
}
