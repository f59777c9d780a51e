// Prints a value, or a part of it.

import { CliError, EXIT, type Exit } from '../exit.ts'
import { tenantView, withStore } from '../store.ts'
import type { Terminal } from '../terminal.ts'
import { jsonLine } from '../text.ts'
import { namedWords } from '../words.ts'

export interface ValueOptions {
  readonly tenant?: string
  readonly pointer?: string
}

export function getValue(t: Terminal, words: readonly string[], { tenant, pointer }: ValueOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { ref: '' })
  return withStore(url, async (root) => {
    const value = await (await tenantView(root, tenant)).values.get(names[0] as string, pointer)
    if (value === undefined) throw new CliError('VALUE_MISSING', EXIT.missing, `The value has nothing at ${pointer}.`)
    t.out(jsonLine(value as object))
    return EXIT.fine
  })
}
