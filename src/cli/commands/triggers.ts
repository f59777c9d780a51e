// Lists and shows triggers, their firings, and the state of each delivery.

import type { Firing, Store, TriggerDelivery, TriggerRow, TriggerState } from '../../index.ts'
import { CliError, EXIT, type Exit } from '../exit.ts'
import { facts } from '../facts.ts'
import { fromNow, time } from '../format.ts'
import { errorText } from '../runs/text.ts'
import { tenantView, withStore } from '../store.ts'
import { printList } from '../table.ts'
import type { Style, Terminal } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'
import { given, type Named, namedWords, onlyStore } from '../words.ts'
import { attemptsText, duration, shortTime } from '../work/text.ts'

interface PageWords {
  readonly last?: number
  readonly cursor?: string
  readonly tenant?: string
}

export interface TriggersOptions extends PageWords {
  readonly source?: string
  readonly state?: string
}

const LAST_BY_DEFAULT = 20
const FIRINGS_SHOWN = 10

const triggerStyle = (state: string): Style => (state === 'enabled' ? 'green' : state === 'disabled' ? 'yellow' : 'dim')

const DELIVERIES: Readonly<Record<string, Style>> = { delivered: 'green', delivering: 'cyan', reserved: 'yellow', dead: 'red' }
const deliveryStyle = (state: string): Style => (Object.hasOwn(DELIVERIES, state) ? (DELIVERIES[state] as Style) : 'dim')

export function listTriggers(t: Terminal, words: readonly string[], options: TriggersOptions): Promise<Exit> {
  const url = onlyStore(words)
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const { source, state, last = LAST_BY_DEFAULT, cursor } = options
    const page = await store.triggers.list({ last, ...given({ source, state: state as TriggerState | undefined, cursor }) })
    if (t.json) {
      t.out(jsonLine(page))
      return EXIT.fine
    }
    if (page.items.length === 0) t.note(`No trigger matches in tenant ${store.tenantId}.`)
    else
      printList(
        t,
        [
          { title: 'trigger', most: 28, style: 'bold' },
          { title: 'source', most: 28, style: 'cyan' },
          { title: 'queue', most: 24 },
          { title: 'state', style: triggerStyle },
          { title: 'revision', right: true, style: 'dim' },
          { title: 'for' },
        ],
        page.items.map((row) => [nameText(row), row.source, row.queue, row.state, String(row.revision), matchText(row)]),
      )
    tellMore(t, page.cursor)
    return EXIT.fine
  })
}

/** An erased trigger has no name. */
const nameText = ({ name }: TriggerRow): string => (name === '' ? '(erased)' : name)
const matchText = ({ match }: TriggerRow): string => (match === undefined ? 'everything' : jsonLine(match))

const tellMore = (t: Terminal, cursor: string | undefined): void => {
  if (cursor !== undefined) t.note(`More: add --cursor '${harmless(cursor)}'`)
}

export function showTrigger(t: Terminal, words: readonly string[], options: PageWords): Promise<Exit> {
  const { url, names } = namedTrigger(words)
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const row = await knownTrigger(store, names[0] as string)
    const { last = FIRINGS_SHOWN, cursor } = options
    const firings = await store.triggers.history({ trigger: row.name, last, ...given({ cursor }) })
    if (t.json) {
      t.out(jsonLine({ trigger: row, firings }))
      return EXIT.fine
    }
    tell(t, row)
    if (firings.items.length === 0) t.note('It has no firings yet.')
    else {
      t.out(`\n${t.paint('bold', 'firings')}`)
      printFirings(t, firings.items, ownDelivery)
    }
    tellMore(t, firings.cursor)
    return EXIT.fine
  })
}

function tell(t: Terminal, row: TriggerRow): void {
  const now = Date.now()
  const { offer } = row
  const { line, json } = facts(t)
  line('trigger', row.name)
  line('id', row.id)
  line('state', row.state, triggerStyle(row.state))
  line('revision', String(row.revision))
  line('source', row.source)
  line('queue', row.queue)
  line('delay', offer.delayMs > 0 ? duration(offer.delayMs) : undefined)
  line('priority', offer.priority ? String(offer.priority) : undefined)
  line('group', offer.group)
  line('attempts', attemptsText(offer))
  line('set', `${time(row.setAt)} UTC (${fromNow(row.setAt, now)})`)
  if (row.changedAt !== row.setAt) line('changed', `${time(row.changedAt)} UTC (${fromNow(row.changedAt, now)})`)
  if (row.match === undefined) line('for', 'everything')
  else json('for', row.match)
  json('with', row.with)
  line('env', row.env)
}

export interface HistoryWords extends PageWords {
  readonly trigger?: string
  readonly source?: string
}

export function showHistory(t: Terminal, words: readonly string[], options: HistoryWords): Promise<Exit> {
  const url = onlyStore(words)
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const { trigger, source, last = LAST_BY_DEFAULT, cursor } = options
    const page = await store.triggers.history({ last, ...given({ trigger, source, cursor }) })
    if (t.json) t.out(jsonLine(page))
    else {
      if (page.items.length === 0) t.note(`No firing matches in tenant ${store.tenantId}.`)
      else printFirings(t, page.items)
      tellMore(t, page.cursor)
    }
    return EXIT.fine
  })
}

function printFirings(t: Terminal, firings: readonly Firing[], became = deliveriesText): void {
  const at = shortTime(t, Date.now())
  printList(
    t,
    [
      { title: 'firing', style: 'bold' },
      { title: 'fired (UTC)', style: 'dim' },
      { title: 'source', most: 24, style: 'cyan' },
      { title: 'key', most: 20, optional: true },
      { title: 'deliveries' },
    ],
    firings.map((firing) => [firing.id, at(firing.firedAt), firing.source ?? '(erased)', firing.key ?? '', became(firing)]),
  )
}

const triggerOf = ({ trigger }: TriggerDelivery): string => trigger ?? '(erased)'

const deliveryText = ({ state, attempt, error }: TriggerDelivery): string =>
  `${state}${attempt > 1 ? ` after ${attempt} tries` : ''}${error ? ` (${errorText(error)})` : ''}`

const deliveriesText = ({ deliveries }: Firing): string =>
  deliveries.length === 0 ? 'no match' : deliveries.map((one) => `${triggerOf(one)} ${deliveryText(one)}`).join(', ')

const ownDelivery = ({ deliveries }: Firing): string => deliveries.map(deliveryText).join(', ')

export function showFiring(t: Terminal, words: readonly string[], { tenant }: PageWords): Promise<Exit> {
  const { url, names } = namedWords(words, { firing: 'inkfast triggers history' })
  const id = names[0] as string
  return withStore(url, async (root) => {
    const store = await tenantView(root, tenant)
    const firing = await store.triggers.firing(id)
    if (!firing) {
      const why = `There is no firing ${id} in tenant ${store.tenantId}. See what fired with inkfast triggers history.`
      throw new CliError('FIRING_UNKNOWN', EXIT.missing, why, { firing: id, tenant: store.tenantId })
    }
    if (t.json) {
      t.out(jsonLine({ firing }))
      return EXIT.fine
    }
    const { line, json } = facts(t)
    line('firing', firing.id)
    line('source', firing.source)
    line('key', firing.key)
    line('fired', `${time(firing.firedAt)} UTC (${fromNow(firing.firedAt, Date.now())})`)
    if (firing.erased) line('payload', '(erased)')
    else json('payload', firing.payload)
    printDeliveries(t, firing.deliveries)
    return EXIT.fine
  })
}

function printDeliveries(t: Terminal, deliveries: readonly TriggerDelivery[]): void {
  if (deliveries.length === 0) {
    t.note('It matched no trigger.')
    return
  }
  const at = shortTime(t, Date.now())
  t.out(`\n${t.paint('bold', 'deliveries')}`)
  printList(
    t,
    [
      { title: 'trigger', most: 24, style: 'bold' },
      { title: 'outcome', style: deliveryStyle },
      { title: 'tries', right: true },
      { title: 'since (UTC)', style: 'dim' },
      { title: 'item' },
      { title: 'why', optional: true },
    ],
    deliveries.map((one) => [
      triggerOf(one),
      one.state,
      String(one.attempt),
      at(one.changedAt),
      one.item,
      one.error ? errorText(one.error) : '',
    ]),
  )
}

export const namedTrigger = (words: readonly string[]): Named => namedWords(words, { trigger: 'inkfast triggers' })

/** Fails if the trigger does not exist. */
export async function knownTrigger(store: Store, name: string): Promise<TriggerRow> {
  const row = await store.triggers.get(name)
  if (row) return row
  const why = `There is no trigger ${name} in tenant ${store.tenantId}. See what is there with inkfast triggers.`
  throw new CliError('TRIGGER_UNKNOWN', EXIT.missing, why, { trigger: name, tenant: store.tenantId })
}
