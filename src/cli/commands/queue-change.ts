// Changes queues: offers an item, cancels one, and redrives dead letters.

import type { OfferOptions, WorkItem } from '../../index.ts'
import { isId } from '../../model/ids.ts'
import { type Exit, usage } from '../exit.ts'
import { fromNow, one, time } from '../format.ts'
import { changeStore, type WhoOptions } from '../store.ts'
import { environment, type Terminal, verdict } from '../terminal.ts'
import { jsonLine } from '../text.ts'
import { durationWord, given, jsonWord, namedWords, reasonWord } from '../words.ts'
import { knownItem, namedItem, userQueue } from './queue.ts'

export interface OfferWords extends WhoOptions {
  readonly key?: string
  readonly delay?: string
  readonly priority?: number
  readonly group?: string
  readonly attempts?: number
  readonly backoff?: string
}

export function offerItem(t: Terminal, words: readonly string[], options: OfferWords): Promise<Exit> {
  const { url, names } = namedWords(words, { queue: 'inkfast queue', payload: '' })
  const name = userQueue(names[0] as string)
  const payload = jsonWord(names[1] as string, 'The payload')
  const { key, delay, priority, group, attempts, backoff } = options
  const offer: OfferOptions = given({
    key,
    priority,
    group,
    attempts,
    delay: delay === undefined ? undefined : durationWord(delay),
    backoff: backoff === undefined ? undefined : durationWord(backoff),
  })
  return changeStore(url, options, async (store) => {
    const item = await store.queue(name).offer(payload, offer)
    if (t.json) t.out(jsonLine({ item }))
    else if (item.state === 'done') t.out(verdict(t, 'warn', `the item of this key is already done or cancelled; nothing was written`))
    else if (item.repeated) t.out(verdict(t, 'ok', `${item.id} is already in queue ${name} with this key; nothing was written`))
    else t.out(verdict(t, 'ok', `${item.id} is in queue ${name}, ${dueText(item)}`))
  })
}

function dueText({ at = 0 }: WorkItem): string {
  const now = Date.now()
  return at > now ? `due ${time(at)} UTC (${fromNow(at, now)})` : 'due now; a worker takes it up'
}

export function cancelItem(t: Terminal, words: readonly string[], options: WhoOptions & { readonly reason?: string }): Promise<Exit> {
  const { url, names } = namedItem(words)
  const name = userQueue(names[0] as string)
  const reason = reasonWord(options.reason)
  return changeStore(url, options, async (store) => {
    const { id, state } = await knownItem(store, name, names[1] as string)
    await store.queue(name).cancel(id, { reason })
    if (t.json) t.out(jsonLine({ item: id, queue: name, state: 'cancelled' }))
    else t.out(verdict(t, 'ok', `${id} is removed from queue ${name}${state === 'claimed' ? '; its worker lost the claim' : ''}`))
  })
}

export function redriveItems(t: Terminal, words: readonly string[], options: WhoOptions & { readonly most?: number }): Promise<Exit> {
  const { url, name, id } = redriven(words)
  const { most } = options
  if (id !== undefined && most !== undefined) throw usage('Pass an item or --most, not both.')
  return changeStore(url, options, async (store) => {
    if (id !== undefined) await knownItem(store, name, id)
    const items = await store.queue(name).redrive(id ?? given({ most }))
    if (t.json) t.out(jsonLine({ queue: name, redriven: items.map((item) => item.id) }))
    else if (items.length === 0) t.out(verdict(t, 'ok', `queue ${name} has no dead items; nothing was written`))
    else t.out(verdict(t, 'ok', `${one(items.length, 'dead item')} of queue ${name} ready again, with all attempts`))
  })
}

interface Redriven {
  readonly url: string | undefined
  readonly name: string
  readonly id: string | undefined
}

/** `[store] <queue> [item]`: if INKFAST_URL names the store and the second word is an id, two words are a queue and an item. */
function redriven(words: readonly string[]): Redriven {
  const two = words.length === 2 && isId(words[1] ?? '') && environment.url !== undefined
  const { url, names } = words.length > 2 || two ? namedItem(words) : namedWords(words, { queue: 'inkfast queue' })
  return { url, name: userQueue(names[0] as string), id: names[1] }
}
