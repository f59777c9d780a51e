// Lists, prints, sets and deletes entries of key-value state.

import { Buffer } from 'node:buffer'
import type { KeyValueState, StateEntry, Store } from '../../index.ts'
import { CliError, EXIT, type Exit } from '../exit.ts'
import { time } from '../format.ts'
import { changeStore, findSession, tenantView, type WhoOptions, withStore } from '../store.ts'
import { printTable } from '../table.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'
import { durationWord, given, jsonWord, namedWords, onlyStore } from '../words.ts'

export interface StateOptions extends WhoOptions {
  readonly session?: string
  readonly prefix?: string
  readonly last?: number
  readonly after?: string
  readonly ttl?: string
  readonly expect?: number
}

const LAST_BY_DEFAULT = 50

export function listState(t: Terminal, words: readonly string[], options: StateOptions): Promise<Exit> {
  return withStore(onlyStore(words), async (root) => {
    const state = await stateOf(await tenantView(root, options.tenant), options)
    const most = options.last ?? LAST_BY_DEFAULT
    const items: StateEntry[] = []
    let more = false
    for await (const entry of state.list(options.prefix, given({ after: options.after }))) {
      t.signal.throwIfAborted()
      if (items.length === most) {
        more = true
        break
      }
      items.push(entry)
    }
    const after = more ? items.at(-1)?.key : undefined
    if (t.json) {
      t.out(jsonLine({ items: items.map(shown), ...given({ after }) }))
      return EXIT.fine
    }
    if (items.length === 0) t.note('No entry matches.')
    else
      printTable(
        t,
        [
          { title: 'key', most: 48, style: 'bold' },
          { title: 'revision', right: true },
          { title: 'expires (UTC)', style: 'dim', optional: true },
          { title: 'value', most: 60 },
        ],
        items.map((entry) => [
          entry.key,
          String(entry.revision),
          entry.expires === undefined ? '' : time(entry.expires),
          textOf(entry.value),
        ]),
      )
    if (after !== undefined) t.note(`More: add --after '${harmless(after)}'`)
    return EXIT.fine
  })
}

export function getState(t: Terminal, words: readonly string[], options: StateOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { key: 'inkfast state list' })
  return withStore(url, async (root) => {
    const entry = await (await stateOf(await tenantView(root, options.tenant), options)).get(names[0] as string)
    if (!entry)
      throw new CliError('STATE_UNKNOWN', EXIT.missing, `There is no entry '${names[0]}'. See what exists with inkfast state list.`)
    t.out(t.json ? jsonLine(shown(entry)) : textOf(entry.value))
    return EXIT.fine
  })
}

export function setState(t: Terminal, words: readonly string[], options: StateOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { key: 'inkfast state list', json: '' })
  const value = jsonWord(names[1] as string, 'The value')
  const { ttl, expect } = options
  return changeStore(url, options, async (store) => {
    const state = await stateOf(store, options)
    const set = await state.set(names[0] as string, value, given({ expect, ttl: ttl === undefined ? undefined : durationWord(ttl) }))
    if (t.json) t.out(jsonLine(set))
    else t.out(verdict(t, 'ok', `${set.key} is set, at revision ${set.revision}`))
  })
}

export function deleteState(t: Terminal, words: readonly string[], options: StateOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { key: 'inkfast state list' })
  const key = names[0] as string
  return changeStore(url, options, async (store) => {
    const deleted = await (await stateOf(store, options)).delete(key, given({ expect: options.expect }))
    if (t.json) t.out(jsonLine({ key, deleted }))
    else t.out(verdict(t, 'ok', deleted ? `${key} is deleted` : `there was no entry ${key}; nothing was written`))
  })
}

const stateOf = async (store: Store, { session }: StateOptions): Promise<KeyValueState> =>
  session === undefined ? store.state : (await findSession(store, session)).state

/** Bytes are shown in base64, under a name that says so. */
const shown = ({ value, ...entry }: StateEntry): object =>
  value instanceof Uint8Array ? { ...entry, base64: Buffer.from(value).toString('base64') } : { ...entry, value }

const textOf = (value: unknown): string => (value instanceof Uint8Array ? `(${value.length} bytes)` : jsonLine(value))
