// Changes triggers: enables, disables and deletes them, and fires a source.

import type { Fired } from '../../index.ts'
import type { Exit } from '../exit.ts'
import { one } from '../format.ts'
import { changeStore, type WhoOptions } from '../store.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { jsonLine } from '../text.ts'
import { given, jsonWord, namedWords } from '../words.ts'
import { knownTrigger, namedTrigger } from './triggers.ts'

export interface TurnWords extends WhoOptions {
  readonly expect?: number
}

const THEN = {
  disable: 'it gets no new deliveries; reserved ones are still made',
  enable: 'it gets deliveries of new firings',
  delete: 'reserved deliveries are still made',
} as const

const turn =
  (verb: keyof typeof THEN) =>
  (t: Terminal, words: readonly string[], options: TurnWords): Promise<Exit> => {
    const { url, names } = namedTrigger(words)
    return changeStore(url, options, async (store) => {
      const before = await knownTrigger(store, names[0] as string)
      const { name, state, revision } = await store.triggers[verb](before.name, given({ expect: options.expect }))
      const changed = revision !== before.revision
      if (t.json) t.out(jsonLine({ trigger: name, state, revision, changed }))
      else if (changed) t.out(verdict(t, 'ok', `${name} is ${state} (revision ${revision}): ${THEN[verb]}`))
      else t.out(verdict(t, 'ok', `${name} was already ${state}; nothing was written`))
    })
  }

export const disableTrigger = turn('disable')
export const enableTrigger = turn('enable')
export const deleteTrigger = turn('delete')

export function fireSource(t: Terminal, words: readonly string[], options: WhoOptions & { readonly key?: string }): Promise<Exit> {
  const { url, names } = namedWords(words, { source: 'inkfast triggers', payload: '' })
  const source = names[0] as string
  const payload = jsonWord(names[1] as string, 'The payload')
  return changeStore(url, options, async (store) => {
    const fired = await store.triggers.fire(source, payload, given({ key: options.key }))
    if (t.json) t.out(jsonLine(fired))
    else if (fired.repeated) t.out(verdict(t, 'ok', `${fired.firing} was already fired with this key; nothing was written`))
    else if (fired.deliveries.length === 0)
      t.out(verdict(t, 'warn', `${fired.firing} is recorded, but matches no enabled trigger of ${source}`))
    else t.out(verdict(t, 'ok', `${fired.firing} is recorded for ${toldText(fired)}; workers of their queues take it up`))
  })
}

function toldText({ deliveries }: Fired): string {
  const names = deliveries.slice(0, 5).map(({ trigger }) => trigger)
  return `${one(deliveries.length, 'trigger')} (${names.join(', ')}${deliveries.length > names.length ? ', …' : ''})`
}
