// Parses the arguments after `inkfast runs …`: the store, the run, and further names.

import type { RunRow, Store } from '../../index.ts'
import { InkError } from '../../index.ts'
import { namedWords } from '../words.ts'

export interface NamedRun {
  /** Undefined where INKFAST_URL names it. */
  readonly url: string | undefined
  readonly run: string
  readonly rest: readonly string[]
}

/** `[store] <run>`, and as many words more as `also` asks for. */
export function namedRun(words: readonly string[], also: Readonly<Record<string, string>> = {}): NamedRun {
  const { url, names } = namedWords(words, { run: 'inkfast runs list', ...also })
  const [run = '', ...rest] = names
  return { url, run, rest }
}

/** Fails if the run does not exist. */
export async function knownRun(store: Store, id: string): Promise<RunRow> {
  const row = await store.runs.get(id)
  if (!row) throw new InkError('RUN_UNKNOWN', { run: id, tenant: store.tenantId })
  return row
}
