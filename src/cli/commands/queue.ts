// Lists queues with their backlog, the items of one queue, and everything about one item.

import type { Store, WorkItem, WorkState } from '../../index.ts'
import { RESERVED_QUEUES } from '../../model/work.ts'
import { CliError, EXIT, type Exit, usage } from '../exit.ts'
import { facts } from '../facts.ts'
import { count, fromNow, span, time } from '../format.ts'
import { errorLines } from '../runs/error-lines.ts'
import { errorText } from '../runs/text.ts'
import { tenantView, withStore } from '../store.ts'
import { type Column, printList, printTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'
import { given, type Named, namedWords, onlyStore } from '../words.ts'
import { attemptsText, holderText, itemStanding, itemState, itemStyle, triesText } from '../work/text.ts'
import { noteOf, waitingNames } from '../work/unhandled.ts'

export interface QueuesOptions {
  readonly all?: boolean
  readonly tenant?: string
}

const isInternal = (queue: string): boolean => RESERVED_QUEUES.some((prefix) => queue.startsWith(prefix))

export function showQueues(t: Terminal, words: readonly string[], { all = false, tenant }: QueuesOptions): Promise<Exit> {
  const url = onlyStore(words)
  return withStore(url, async (root) => {
    const store = await tenantView(root, tenant)
    const queues = (await store.queues()).filter(({ queue }) => all || !isInternal(queue))
    const waiting = await waitingNames(store, 'item')
    if (t.json) t.out(jsonLine({ queues, ...(waiting.length > 0 && { unhandled: waiting }) }))
    else if (queues.length === 0)
      t.note(`All queues of tenant ${store.tenantId} are empty.${all ? '' : ' Add --all for the internal queues.'}`)
    else {
      const number = (title: string, style?: Column['style']): Column => ({ title, right: true, ...(style && { style }) })
      const asleep = queues.some((one) => one.asleep > 0)
      printTable(
        t,
        [
          { title: 'queue', most: 40, style: 'bold' },
          ...['ready', 'delayed', 'claimed', ...(asleep ? ['asleep'] : [])].map((title) => number(title)),
          number('dead', (cell) => (cell.trim() === '0' ? 'dim' : 'red')),
          { title: 'handled by', optional: true, style: 'yellow' },
        ],
        queues.map(({ queue, ready, delayed, claimed, asleep: sleeping, dead }) => [
          queue,
          ...[ready, delayed, claimed, ...(asleep ? [sleeping] : []), dead].map(count),
          waiting.some(({ name }) => name === queue) ? 'nobody' : '',
        ]),
      )
    }
    return EXIT.fine
  })
}

export interface ItemsOptions {
  readonly state?: string
  readonly last?: number
  readonly cursor?: string
  readonly tenant?: string
}

const LAST_BY_DEFAULT = 20

export function listItems(t: Terminal, words: readonly string[], options: ItemsOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { queue: 'inkfast queue' })
  const name = userQueue(names[0] as string)
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const { state, last = LAST_BY_DEFAULT, cursor } = options
    const page = await store.queue(name).list({ last, ...given({ state: state as WorkState | undefined, cursor }) })
    const waiting = (await waitingNames(store, 'item')).filter((one) => one.name === name)
    if (t.json) {
      t.out(jsonLine({ ...page, ...(waiting.length > 0 && { unhandled: waiting }) }))
      return EXIT.fine
    }
    if (page.items.length === 0) t.note(await emptyText(store, name, state))
    else await printItems(t, store, name, page.items)
    for (const one of waiting) t.note(noteOf(one))
    if (page.cursor !== undefined) t.note(`More: add --cursor '${harmless(page.cursor)}'`)
    return EXIT.fine
  })
}

/** A misspelt name must not read as "all done". */
async function emptyText(store: Store, name: string, state: string | undefined): Promise<string> {
  const queues = (await store.queues()).map(({ queue }) => queue).filter((queue) => !isInternal(queue))
  if (queues.includes(name)) return `Queue ${harmless(name)} of tenant ${store.tenantId} has no ${state} items.`
  const others =
    queues.length === 0 ? 'so are all others' : `not empty: ${harmless(queues.slice(0, 10).join(', '))}${queues.length > 10 ? ', …' : ''}`
  return `Queue ${harmless(name)} of tenant ${store.tenantId} is empty; ${others}.`
}

async function printItems(t: Terminal, store: Store, name: string, items: readonly WorkItem[]): Promise<void> {
  const now = Date.now()
  const queue = store.queue(name)
  const lines: (readonly string[])[] = []
  for (const item of items) {
    const holder = item.state === 'claimed' ? await queue.holder(item.id) : undefined
    const age = item.offeredAt === undefined ? '' : span(Math.max(0, now - item.offeredAt))
    const { priority = 0, group = '', key = '' } = item
    lines.push([
      item.id,
      itemState(item, now),
      triesText(item),
      priority === 0 ? '' : String(priority),
      group,
      key,
      age,
      itemStanding(item, holder, now),
    ])
    // A dead item waits for a person, who wants to know why it died.
    if (item.state === 'dead') for (const told of errorLines(item.error)) lines.push(['', '', '', '', '', '', '', told])
  }
  printList(
    t,
    [
      { title: 'id', style: 'bold' },
      { title: 'state', style: itemStyle },
      { title: 'tried' },
      { title: 'priority', right: true, optional: true },
      { title: 'group', most: 20, optional: true },
      { title: 'key', most: 24, optional: true },
      { title: 'age', right: true, style: 'dim' },
      { title: 'status (UTC)' },
    ],
    lines,
  )
}

export function showItem(t: Terminal, words: readonly string[], { tenant }: { readonly tenant?: string }): Promise<Exit> {
  const { url, names } = namedItem(words)
  const name = userQueue(names[0] as string)
  return withStore(url, async (root) => {
    const store = await tenantView(root, tenant)
    const item = await knownItem(store, name, names[1] as string)
    const holder = await store.queue(name).holder(item.id)
    if (t.json) t.out(jsonLine({ item, ...(holder && { holder }) }))
    else {
      const now = holder?.now ?? Date.now()
      const at = (ms: number | undefined) => (ms === undefined ? undefined : `${time(ms)} UTC (${fromNow(ms, now)})`)
      const { line, json } = facts(t)
      const state = itemState(item, now)
      line('id', item.id)
      line('queue', item.queue)
      line('key', item.key)
      line('state', state, itemStyle(state))
      line('tried', `${item.attempt} of ${attemptsText(item) ?? 'any number'}`)
      line('priority', item.priority ? String(item.priority) : undefined)
      line('group', item.group)
      line('from', originText(item.origin))
      line('offered', at(item.offeredAt))
      if (state === 'delayed' || state === 'ready') line('due', item.at ? at(item.at) : 'at once')
      if (state === 'claimed') line('holder', holderText(holder))
      line('died', at(item.diedAt))
      line('error', item.error && errorText(item.error))
      for (const told of errorLines(item.error)) line('', told)
      json('details', item.error?.details)
      json('payload', item.payload)
    }
    return EXIT.fine
  })
}

const ORIGINS: Readonly<Record<string, string>> = { occurrence: 'an occurrence of a job', delivery: 'a delivery of a trigger' }

function originText(origin: WorkItem['origin']): string | undefined {
  if (!origin) return undefined
  const what = Object.hasOwn(ORIGINS, origin.kind) ? ORIGINS[origin.kind] : origin.kind
  return `${what}, ${origin.id}${origin.at === undefined ? '' : `, for ${time(origin.at)} UTC`}`
}

export const namedItem = (words: readonly string[]): Named => namedWords(words, { queue: 'inkfast queue', item: 'inkfast queue list' })

/** Refuses the store's internal queues: their items belong to runs, jobs and processes. */
export function userQueue(name: string): string {
  if (!isInternal(name)) return name
  throw usage(`The queue ${name} is internal. Use inkfast runs, cron, processes or approvals instead.`)
}

export async function knownItem(store: Store, queue: string, id: string): Promise<WorkItem & { readonly payload: unknown }> {
  const item = await store.queue(queue).get(id)
  if (item) return item
  const why = `There is no item ${id} in queue ${queue} of tenant ${store.tenantId}; it was completed or cancelled, or was never there.`
  throw new CliError('WORK_UNKNOWN', EXIT.missing, `${why} List the items with inkfast queue list.`, {
    item: id,
    queue,
    tenant: store.tenantId,
  })
}
