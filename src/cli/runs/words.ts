// What the words after `inkfast runs …` mean: which store, which run, and what else.

import type { RunRow, Store } from '../../index.ts'
import { InkError } from '../../index.ts'
import { usage } from '../exit.ts'
import { environment } from '../terminal.ts'

export interface Named {
  /** Undefined where INKFAST_URL names it. */
  readonly url: string | undefined
  readonly run: string
  readonly rest: readonly string[]
}

/** `[store] <run>`, and as many words more as `also` asks for; the store may be left out where INKFAST_URL names it. */
export function namedRun(words: readonly string[], also: readonly string[] = []): Named {
  const unnamed = environment.url !== undefined && words.length <= 1 + also.length
  const url = unnamed ? undefined : words[0]
  const [run, ...rest] = unnamed ? words : words.slice(1)
  if (run === undefined) throw usage('Which run? Write the store and then the id of the run; inkfast runs list shows them.')
  const missing = also[rest.length]
  if (missing !== undefined) throw usage(`Which ${missing}? Write it after the id of the run.`)
  if (rest.length > also.length) throw usage(`'${rest[also.length]}' is one word too many.`)
  return { url, run, rest }
}

/** A run that is not there is told, and not an empty answer. */
export async function knownRun(store: Store, id: string): Promise<RunRow> {
  const row = await store.runs.get(id)
  if (!row) throw new InkError('RUN_UNKNOWN', { run: id, tenant: store.tenantId })
  return row
}
