// Lists runs, or shows everything about one at a glance.

import type { LeaseHolder, RunCheckpoint, RunRow, RunState, Store, Unhandled, Usage } from '../../index.ts'
import { isOver } from '../../model/run.ts'
import { unhandledText } from '../../model/unhandled.ts'
import { EXIT, type Exit } from '../exit.ts'
import { facts } from '../facts.ts'
import { count, fromNow, one, span, time } from '../format.ts'
import { errorLines } from '../runs/error-lines.ts'
import { chosenKey, componentsText, errorText, nameText, standing, stateStyle, storedText, totalOf, untilText } from '../runs/text.ts'
import { printCounts } from '../runs/usage-table.ts'
import { knownRun, namedRun } from '../runs/words.ts'
import { findSession, sessionNames, tenantView, withStore } from '../store.ts'
import { type Column, printList, printTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'
import { onlyStore } from '../words.ts'
import { waitingNames } from '../work/unhandled.ts'

export interface ListOptions {
  readonly state?: string
  readonly session?: string
  readonly name?: string
  readonly last?: number
  readonly cursor?: string
  readonly tenant?: string
}

const LAST_BY_DEFAULT = 20

export function listRuns(t: Terminal, words: readonly string[], options: ListOptions): Promise<Exit> {
  const url = onlyStore(words)
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const { state, session, name, last, cursor } = options
    const page = await store.runs.list({
      last: last ?? LAST_BY_DEFAULT,
      ...(state !== undefined && { state: state as RunState }),
      ...(session !== undefined && { session: (await findSession(store, session)).id }),
      ...(name !== undefined && { name }),
      ...(cursor !== undefined && { cursor }),
    })
    const waiting = await waitingNames(store, 'run')
    if (t.json) {
      t.out(jsonLine({ ...page, ...(waiting.length > 0 && { unhandled: waiting }) }))
      return EXIT.fine
    }
    if (page.items.length === 0) t.note(`No run matches in tenant ${store.tenantId}.`)
    else await printRuns(t, store, page.items, waiting)
    if (page.cursor !== undefined) t.note(`More: add --cursor '${harmless(page.cursor)}'`)
    return EXIT.fine
  })
}

async function printRuns(t: Terminal, store: Store, rows: readonly RunRow[], waiting: readonly Unhandled[] = []): Promise<void> {
  const sessions = await sessionNames(
    store,
    rows.map(({ session }) => session),
  )
  const now = Date.now()
  const columns: readonly Column[] = [
    { title: 'id', style: 'bold' },
    { title: 'name', most: 24, style: 'cyan' },
    { title: 'key', most: 20, optional: true },
    { title: 'session', most: 24 },
    { title: 'state', style: stateStyle },
    { title: 'try', right: true },
    { title: 'age', right: true, style: 'dim' },
    { title: 'waits for (UTC)' },
  ]
  const lines = rows.map((row) => {
    const { id, key, session, state, attempt, openedAt } = row
    const age = span(Math.max(0, now - openedAt))
    return [
      id,
      nameText(row),
      chosenKey(key),
      sessions.get(session) ?? '',
      state,
      String(attempt),
      age,
      standing(row, now) || unhandledStanding(row, waiting),
    ]
  })
  printList(t, columns, lines)
}

/** A run that waits for nothing but a node, where no node has a handler for it. */
function unhandledStanding({ state, name }: RunRow, waiting: readonly Unhandled[]): string {
  const found = isOver(state) || state === 'running' ? undefined : waiting.find((one) => one.name === name)
  return found ? unhandledText(found).found : ''
}

/** The largest number listed; `inkfast runs list` pages through the rest. */
const CHILDREN = 100

export function showRun(t: Terminal, words: readonly string[], options: { readonly tenant?: string }): Promise<Exit> {
  const { url, run } = namedRun(words)
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const row = await knownRun(store, run)
    const holder = isOver(row.state) ? undefined : await store.runs.holder(row.id)
    const children = await store.runs.list({ parent: row.id, last: CHILDREN })
    const total = totalOf(row.usage)
    if (t.json) {
      const { costNanoUsd, ...counts } = total
      const session = { id: row.session, key: (await store.sessions.get(row.session))?.key }
      t.out(jsonLine({ run: row, session, holder, children: children.items, total: { ...counts, costUsd: Number(costNanoUsd) / 1e9 } }))
      return EXIT.fine
    }
    await tell(t, store, row, holder)
    if (row.waits.length > 0) printWaits(t, row, holder?.now ?? Date.now())
    const unknown = row.waits.find(({ kind }) => kind === 'unknown')
    if (unknown)
      t.note(`Record its outcome: inkfast runs resolve … ${row.id} '${harmless(unknown.name)}' --result <json>, or --error <text>`)
    if (row.usage.length > 0) printUsage(t, row.usage)
    if (children.items.length > 0) {
      t.out(`\n${t.paint('bold', children.cursor === undefined ? 'children' : `newest ${CHILDREN} children`)}`)
      await printRuns(t, store, children.items)
    }
    return EXIT.fine
  })
}

async function tell(t: Terminal, store: Store, row: RunRow, holder: LeaseHolder | undefined): Promise<void> {
  const { line } = facts(t)
  const now = holder?.now ?? Date.now()
  const over = isOver(row.state)
  const parent = row.parent && (await store.runs.get(row.parent))
  line('id', row.id)
  line('name', nameText(row))
  line('key', row.key)
  const session = (await sessionNames(store, [row.session])).get(row.session) ?? ''
  line('session', session.startsWith('…') ? row.session : `${session} (${row.session})`)
  line('state', row.state, stateStyle(row.state))
  line('attempts', count(row.attempt))
  line('opened', `${time(row.openedAt)} UTC (${fromNow(row.openedAt, now)})`)
  line(over ? 'ended' : 'changed', `${time(row.changedAt)} UTC (${fromNow(row.changedAt, now)})`)
  if (!over) line('holder', holderText(row, holder))
  line('parent', row.parent && `${row.parent}${parent ? ` ${nameText(parent)}, ${parent.state}` : ''}`)
  line('fork of', row.fork && `${row.fork.run}, up to seq ${row.fork.at}`)
  line('checkpoint', row.checkpoint && checkpointText(row.checkpoint, now))
  line('tape', row.segments > 0 ? one(row.segments, 'sealed segment') : undefined)
  line('input', storedText(row.input))
  line('result', storedText(row.result))
  line('error', row.error && errorText(row.error))
  for (const told of errorLines(row.error)) line('', told)
  line('details', row.error?.details === undefined ? undefined : jsonLine(row.error.details))
}

function checkpointText({ epoch, now: saved, run, manifest }: RunCheckpoint, now: number): string {
  const from = run === undefined ? '' : `, saved by ${run}`
  return `${manifest ? componentsText(manifest) : '(erased)'}; began epoch ${epoch}, ${time(saved)} UTC (${fromNow(saved, now)})${from}`
}

function holderText({ parallel, waits }: RunRow, holder: LeaseHolder | undefined): string {
  if (!holder) return waits.length > 0 ? 'none while it waits' : 'none; the next node takes it up'
  const { owner, fence, until, lapsed, now } = holder
  const whose = parallel ? '' : ' (the lease of its session)'
  if (lapsed) return `${owner}, fence ${fence}, is gone or its lease expired; the next worker takes it up`
  return `${owner}, fence ${fence}${whose}, until ${untilText(until, now)} unless renewed`
}

function printWaits(t: Terminal, { waits }: RunRow, now: number): void {
  t.out(`\n${t.paint('bold', 'waits for')}`)
  printTable(
    t,
    [
      { title: 'kind', style: 'cyan' },
      { title: 'name', most: 40 },
      { title: 'branch', most: 30, optional: true },
      { title: 'until (UTC)', optional: true },
      { title: 'on', optional: true },
    ],
    waits.map(({ kind, name, branch, until, on }) => [kind, name, branch, until === undefined ? '' : untilText(until, now), on ?? '']),
  )
}

function printUsage(t: Terminal, ledger: readonly Usage[]): void {
  t.out(`\n${t.paint('bold', 'usage')}`)
  const labels: readonly Column[] = [
    { title: 'source', most: 24 },
    { title: 'model', most: 32, style: 'cyan' },
  ]
  printCounts(
    t,
    labels,
    ledger.map((one) => ({ labels: [one.source, one.model], counts: one })),
  )
}
