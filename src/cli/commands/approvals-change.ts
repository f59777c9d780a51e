// Changes approvals and permits: approves, denies, with or without a permit, withdraws and revokes.

import type { DecideOptions, Decision } from '../../index.ts'
import type { Exit } from '../exit.ts'
import { changeStore, type WhoOptions } from '../store.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { jsonLine } from '../text.ts'
import { durationWord, given, jsonWord, namedWords } from '../words.ts'

export interface DecideWords extends WhoOptions {
  readonly by?: string
  readonly note?: string
  readonly scope?: string
  readonly digest?: string
  readonly value?: string
}

const deciding =
  (decision: Decision) =>
  (t: Terminal, words: readonly string[], options: DecideWords): Promise<Exit> => {
    const { url, names } = namedWords(words, { approval: 'inkfast approvals list' })
    const { by, note, digest, value, scope } = options
    const decided: DecideOptions = {
      decision,
      ...given({ by, note, digest, scope: scope === undefined ? undefined : scopeWord(scope) }),
      ...(value !== undefined && { value: jsonWord(value, '--value') }),
    }
    return changeStore(url, options, async (store) => {
      const row = await store.approvals.decide(names[0] as string, decided)
      if (t.json) return t.out(jsonLine({ approval: row }))
      const who = row.decidedBy === undefined ? '' : ` by ${row.decidedBy}`
      const longer = row.grants === undefined ? '' : `; later requests with the same digest are ${row.state} too (permit ${row.grants})`
      t.out(verdict(t, 'ok', `'${row.subject}' (${row.id}) is ${row.state}${who}${longer}`))
    })
  }

export const approve = deciding('approve')
export const deny = deciding('deny')

const scopeWord = (scope: string): NonNullable<DecideOptions['scope']> =>
  scope === 'once' || scope === 'session' ? scope : { for: durationWord(scope) }

export interface RevokeWords extends WhoOptions {
  readonly by?: string
  readonly reason?: string
}

export function revoke(t: Terminal, words: readonly string[], options: RevokeWords): Promise<Exit> {
  const { url, names } = namedWords(words, { permit: 'inkfast approvals permits' })
  const { by, reason } = options
  return changeStore(url, options, async (store) => {
    const row = await store.approvals.permits.revoke(names[0] as string, given({ by, reason }))
    if (t.json) t.out(jsonLine({ permit: row }))
    else t.out(verdict(t, 'ok', `the permit ${row.id} for '${row.subject}' is revoked; later requests ask a person again`))
  })
}
