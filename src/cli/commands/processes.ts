// Lists and shows agent processes: their state, events, holder and grants.

import type { AgentProcess, LeaseHolder, ProcessEvent, ProcessGrant, Store } from '../../index.ts'
import { hasEnded, type ProcessRow, type ProcessState } from '../../model/process.ts'
import { CliError, EXIT, type Exit } from '../exit.ts'
import { facts } from '../facts.ts'
import { fromNow, shortId, span, time } from '../format.ts'
import { errorText, storedText } from '../runs/text.ts'
import { findSession, tenantView, withStore } from '../store.ts'
import { printList, printTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'
import { given, type Named, namedWords, onlyStore } from '../words.ts'
import { endText, processName, processStanding, processStyle, requestText, waitText, wakeText } from '../work/process-text.ts'
import { holderText, shortTime } from '../work/text.ts'

export interface ProcessesOptions {
  readonly state?: string
  readonly kind?: string
  readonly session?: string
  readonly all?: boolean
  readonly last?: number
  readonly cursor?: string
  readonly tenant?: string
}

const LAST_BY_DEFAULT = 20

export function listProcesses(t: Terminal, words: readonly string[], options: ProcessesOptions): Promise<Exit> {
  const url = onlyStore(words)
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const { state, kind, session, all, last = LAST_BY_DEFAULT, cursor } = options
    const wake = session === undefined ? undefined : (await findSession(store, session)).id
    const page = await store.processes.list({ last, ...given({ state: state as ProcessState | undefined, kind, wake, all, cursor }) })
    if (t.json) {
      t.out(jsonLine(page))
      return EXIT.fine
    }
    const now = Date.now()
    if (page.items.length === 0) t.note(`No process matches in tenant ${store.tenantId}.`)
    else
      printList(
        t,
        [
          { title: 'process', most: 32, style: 'bold' },
          { title: 'kind', most: 20, style: 'cyan' },
          { title: 'state', style: processStyle },
          { title: 'recovery', style: 'dim' },
          { title: 'age', right: true, style: 'dim' },
          { title: 'status' },
        ],
        page.items.map((row) => {
          const age = span(Math.max(0, now - row.registeredAt))
          return [processName(row), row.kind, row.state, row.recovery, age, processStanding(row, now)]
        }),
      )
    if (page.cursor !== undefined) t.note(`More: add --cursor '${harmless(page.cursor)}'`)
    return EXIT.fine
  })
}

const EVENTS_SHOWN = 10
/** The largest number listed. */
const GRANTS_SHOWN = 100

export function showProcess(t: Terminal, words: readonly string[], options: ProcessesOptions): Promise<Exit> {
  const { url, names } = namedProcess(words)
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const process = await knownProcess(store, names[0] as string)
    const row = process.toJSON()
    const holder = hasEnded(row.state) ? undefined : await process.holder()
    const events = (await process.events({ last: options.last ?? EVENTS_SHOWN })).items
    const grants = await store.processes.grants({ process: row.id, last: GRANTS_SHOWN })
    if (t.json) {
      t.out(jsonLine({ process: row, ...(holder && { holder }), events, grants: grants.items }))
      return EXIT.fine
    }
    await tell(t, store, row, holder)
    if (grants.items.length > 0) await printGrants(t, store, grants.items, grants.cursor !== undefined)
    if (events.length > 0) {
      t.out(`\n${t.paint('bold', (events[0]?.number ?? 1) > 1 ? 'last events' : 'all events')}`)
      printEvents(t, events)
    }
    return EXIT.fine
  })
}

async function tell(t: Terminal, store: Store, row: ProcessRow, holder: LeaseHolder | undefined): Promise<void> {
  const now = holder?.now ?? Date.now()
  const at = (ms: number) => `${time(ms)} UTC (${fromNow(ms, now)})`
  const { line, json } = facts(t)
  const { provenance: from, started, reference } = row
  line('process', processName(row))
  line('id', row.id)
  line('label', row.label)
  line('kind', row.kind)
  line('state', row.state, processStyle(row.state))
  line('recovery', `${row.recovery}${row.attempts === undefined ? '' : `, at most ${row.attempts} times`}`)
  line('waits', waitText(row, now).replace(/^waits /, ''))
  line('cancel', row.cancel && requestText(row.cancel, now))
  line('abandon', row.abandon && requestText(row.abandon, now))
  line('session', from?.session && (await sessionName(store, from.session)))
  line('run', from?.run)
  line('cause', from?.cause && `event ${from.cause}`)
  line('by', from?.by)
  line('wakes', row.wake ? await sessionName(store, row.wake) : row.wakeWas && `none: session ${row.wakeWas} was deleted`)
  line('external', reference && `${reference.id} of ${reference.backend}`)
  json('metadata', reference?.metadata)
  line('since', at(row.registeredAt))
  line('started', started && `${at(started.at)} by ${started.owner}`)
  line('ended', row.endedAt === undefined ? undefined : at(row.endedAt))
  if (!hasEnded(row.state)) line('holder', holderText(holder))
  json('defined', row.definition)
  line('env', row.env)
  line('events', row.events && Object.keys(row.events).join(', '))
  if (row.input?.value === undefined) line('input', storedText(row.input))
  else json('input', row.input.value)
  line(row.state === 'failed' ? 'error' : row.state === 'completed' ? 'value' : 'why', endText(row))
  json('details', row.error?.details)
  json('control', row.control)
}

const sessionName = async (store: Store, id: string): Promise<string> => {
  const key = (await store.sessions.get(id))?.key
  return key === undefined ? id : `${key} (${id})`
}

async function printGrants(t: Terminal, store: Store, grants: readonly ProcessGrant[], more: boolean): Promise<void> {
  const rows: string[][] = []
  for (const { session, kind, label, grantedAt } of grants)
    rows.push([(await store.sessions.get(session))?.key ?? shortId(session), time(grantedAt), kind, label ?? ''])
  t.out(`\n${t.paint('bold', more ? `newest ${GRANTS_SHOWN} handles` : 'handles')}`)
  printTable(
    t,
    [{ title: 'session', most: 40 }, { title: 'since (UTC)', style: 'dim' }, { title: 'kind' }, { title: 'label', optional: true }],
    rows,
  )
}

function printEvents(t: Terminal, events: readonly ProcessEvent[]): void {
  const at = shortTime(t, Date.now())
  printTable(
    t,
    [
      { title: 'number', right: true, style: 'bold' },
      { title: 'time (UTC)', style: 'dim' },
      { title: 'type', most: 32, style: 'cyan' },
      { title: 'wake', optional: true },
      { title: 'data' },
    ],
    events.map(({ number, at: ms, type, wake, data }) => [
      String(number),
      at(ms),
      type,
      wakeText(wake),
      data === undefined ? '' : dataText(data),
    ]),
  )
}

/** Shows an error as one, and any other data as it is stored. */
function dataText(data: unknown): string {
  const { error } = data as { readonly error?: { readonly name?: unknown; readonly message?: unknown } }
  if (typeof error?.name === 'string' && typeof error.message === 'string') return errorText({ name: error.name, message: error.message })
  return jsonLine(data)
}

export interface EventsOptions {
  readonly after?: number
  readonly type?: string
  readonly last?: number
  readonly cursor?: string
  readonly tenant?: string
}

/** Lists the newest events, or all from a given number on. */
export function listEvents(t: Terminal, words: readonly string[], options: EventsOptions): Promise<Exit> {
  const { url, names } = namedProcess(words)
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const process = await knownProcess(store, names[0] as string)
    const { after, type, last = LAST_BY_DEFAULT, cursor } = options
    const forwards = after !== undefined || cursor !== undefined
    const page = await process.events({ ...(forwards ? { limit: last } : { last }), ...given({ after, type, cursor }) })
    if (t.json) {
      t.out(jsonLine(page))
      return EXIT.fine
    }
    if (page.items.length === 0) t.note(`No event of ${harmless(processName(process))} matches.`)
    else printEvents(t, page.items)
    if (page.cursor !== undefined) t.note(`More: add --cursor '${harmless(page.cursor)}'`)
    return EXIT.fine
  })
}

export const namedProcess = (words: readonly string[]): Named => namedWords(words, { process: 'inkfast processes' })

/** Finds a process by name or id. Fails if it does not exist. */
export async function knownProcess(store: Store, name: string): Promise<AgentProcess> {
  const process = await store.processes.get(name)
  if (process) return process
  const why = `There is no process ${name} in tenant ${store.tenantId}; it was never registered, or it was pruned.`
  throw new CliError('PROCESS_UNKNOWN', EXIT.missing, `${why} List the processes with inkfast processes.`, {
    process: name,
    tenant: store.tenantId,
  })
}
