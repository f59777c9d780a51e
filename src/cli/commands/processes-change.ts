// Changes agent processes: requests to cancel or abandon one, and grants and revokes access.

import type { AgentProcess, Store } from '../../index.ts'
import type { Exit } from '../exit.ts'
import { changeStore, findSession, type WhoOptions } from '../store.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { jsonLine } from '../text.ts'
import { given, namedWords, reasonWord } from '../words.ts'
import { processName } from '../work/process-text.ts'
import { knownProcess, namedProcess } from './processes.ts'

const THEN = {
  cancel: { be: 'cancelled', so: 'its handler gets an abort signal and decides when to stop' },
  abandon: { be: 'abandoned', so: 'a node abandons it as soon as no worker holds it' },
} as const

const ask =
  (what: keyof typeof THEN) =>
  (t: Terminal, words: readonly string[], options: WhoOptions & { readonly reason?: string }): Promise<Exit> => {
    const { url, names } = namedProcess(words)
    const reason = reasonWord(options.reason)
    const { be, so } = THEN[what]
    return changeStore(url, options, async (store) => {
      const process = await knownProcess(store, names[0] as string)
      const { repeated, ...request } = await process[what](reason)
      if (t.json) t.out(jsonLine({ process: process.id, name: process.name, state: process.state, [what]: request, repeated }))
      else if (repeated)
        t.out(verdict(t, 'ok', `${processName(process)} already has a request to be ${be}: ${request.reason}; nothing was written`))
      else t.out(verdict(t, 'ok', `${processName(process)} will be ${be}: ${so}`))
    })
  }

export const cancelProcess = ask('cancel')
export const abandonProcess = ask('abandon')

export function grantProcess(
  t: Terminal,
  words: readonly string[],
  options: WhoOptions & { readonly kind?: string; readonly label?: string },
): Promise<Exit> {
  return handle(words, options, async (store, process, session) => {
    const grant = await store.processes.grant(process.id, session.id, given({ kind: options.kind, label: options.label }))
    if (t.json) t.out(jsonLine({ grant }))
    else t.out(verdict(t, 'ok', `session ${session.name} has a handle on ${processName(process)}`))
  })
}

export function revokeProcess(t: Terminal, words: readonly string[], options: WhoOptions): Promise<Exit> {
  return handle(words, options, async (store, process, session) => {
    const revoked = await store.processes.revoke(process.id, session.id)
    if (t.json) t.out(jsonLine({ process: process.id, name: process.name, session: session.id, revoked }))
    else if (revoked) t.out(verdict(t, 'ok', `session ${session.name} no longer has a handle on ${processName(process)}`))
    else t.out(verdict(t, 'ok', `session ${session.name} had no handle on ${processName(process)}; nothing was written`))
  })
}

type SessionId = Parameters<Store['processes']['grant']>[1]

interface NamedSession {
  readonly id: SessionId
  readonly name: string
}

function handle(
  words: readonly string[],
  who: WhoOptions,
  work: (store: Store, process: AgentProcess, session: NamedSession) => Promise<void>,
): Promise<Exit> {
  const { url, names } = namedWords(words, { process: 'inkfast processes', session: 'inkfast sessions' })
  return changeStore(url, who, async (store) => {
    const process = await knownProcess(store, names[0] as string)
    const { id, key } = await findSession(store, names[1] as string)
    await work(store, process, { id, name: key ?? id })
  })
}
