// Changes runs from outside: cancels a run, resolves an effect, forks a run, wakes one.

import type { Resolution, RunRow, Store } from '../../index.ts'
import { InkError } from '../../index.ts'
import { isOver } from '../../model/run.ts'
import { type Exit, usage } from '../exit.ts'
import { nameText } from '../runs/text.ts'
import { knownRun, namedRun } from '../runs/words.ts'
import { changeStore, type WhoOptions } from '../store.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'
import { given, jsonWord, reasonWord } from '../words.ts'

export function cancelRun(t: Terminal, words: readonly string[], options: WhoOptions & { readonly reason?: string }): Promise<Exit> {
  const { url, run } = namedRun(words)
  const reason = reasonWord(options.reason)
  return change(url, run, options, async (store, row) => {
    await store.runs.cancel(row.id, reason)
    if (t.json) t.out(jsonLine({ run: row.id, name: row.name, state: 'cancelled' }))
    else t.out(verdict(t, 'ok', `${nameText(row)} (${row.id}) is cancelled; its lease holder can write nothing more`))
  })
}

export interface ResolveOptions extends WhoOptions {
  readonly result?: string
  readonly error?: string
  readonly branch?: string
  readonly ordinal?: number
  readonly epoch?: number
}

export function resolveEffect(t: Terminal, words: readonly string[], options: ResolveOptions): Promise<Exit> {
  const { url, run, rest } = namedRun(words, { effect: 'inkfast runs show' })
  const effect = rest[0] as string
  const resolution = resolutionOf(options)
  return change(url, run, options, async (store, row) => {
    if (isOver(row.state)) throw finished(row)
    await store.runs.resolve(row.id, effect, {
      ...resolution,
      ...given({ branch: options.branch, ordinal: options.ordinal, epoch: options.epoch }),
    })
    const how = 'error' in resolution ? 'failed' : 'done'
    if (t.json) t.out(jsonLine({ run: row.id, name: row.name, effect, settled: how }))
    else t.out(verdict(t, 'ok', `'${effect}' is recorded as ${how}; ${row.name} (${row.id}) continues with it`))
  })
}

function resolutionOf({ result, error }: ResolveOptions): Resolution {
  if ((result === undefined) === (error === undefined)) throw usage('Missing outcome: pass --result with JSON, or --error with a text.')
  if (error !== undefined) return { error: new Error(error) }
  return { result: jsonWord(result as string, '--result') }
}

export interface ForkOptions extends WhoOptions {
  readonly at?: number
  readonly key?: string
}

/** Releases the lease at once, because the command executes no program. */
export function forkRun(t: Terminal, words: readonly string[], options: ForkOptions): Promise<Exit> {
  const { url, run } = namedRun(words)
  const { at, key } = options
  if (at === undefined) throw usage('Missing --at: pass the last seq that both runs share; inkfast runs tape shows it.')
  return change(url, run, options, async (store, row) => {
    const fork = await store.runs.fork(row.id, { at, ...(key !== undefined && { key }) })
    try {
      const session = (await store.sessions.get(row.session))?.key
      if (t.json) t.out(jsonLine({ run: fork.id, name: fork.name, session: fork.session, key: fork.key, fork: { run: row.id, at } }))
      else {
        t.out(verdict(t, 'ok', `forked: ${fork.id} shares the steps of ${row.name} (${row.id}) up to seq ${at}; no worker holds it`))
        const named = `run(${quoted(fork.name)}, { key: ${quoted(fork.key ?? '')} })`
        t.out(`  Continue it from a program: await (await store.session(${quoted(session ?? row.session)})).${harmless(named)}`)
      }
    } finally {
      await fork.close()
    }
  })
}

const quoted = (text: string): string => harmless(`'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`)

export function wakeRun(t: Terminal, words: readonly string[], options: WhoOptions): Promise<Exit> {
  const { url, run } = namedRun(words)
  return change(url, run, options, async (store, row) => {
    if (isOver(row.state)) throw finished(row)
    const { seq: after } = await store.head()
    await store.runs.wake(row.id)
    let woken = false
    for await (const _ of store.events({ run: row.id, types: ['work.woken'], after, limit: 1 })) woken = true
    if (t.json) t.out(jsonLine({ run: row.id, name: row.name, state: row.state, woken }))
    else if (woken) t.out(verdict(t, 'ok', `${row.name} (${row.id}) is due now; a node with a handler for it takes it up`))
    else
      t.out(
        verdict(
          t,
          'warn',
          `${row.name} (${row.id}) is in no queue, because a program opened it itself; nothing was written. Start that program.`,
        ),
      )
  })
}

const finished = ({ id, name, state }: RunRow): InkError => new InkError('RUN_FINISHED', { run: id, name, state })

const change = (url: string | undefined, run: string, who: WhoOptions, work: (store: Store, row: RunRow) => Promise<void>): Promise<Exit> =>
  changeStore(url, who, async (store) => work(store, await knownRun(store, run)))
