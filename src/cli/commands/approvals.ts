// Lists approvals and permits, or shows everything about one approval at a glance.

import { type ApprovalRow, type HistoryEntry, InkError, type PermitRow, type PermitState, type Store } from '../../index.ts'
import { EXIT, type Exit } from '../exit.ts'
import { facts } from '../facts.ts'
import { bytes, fromNow, shortId, span, time } from '../format.ts'
import { findSession, tenantView, withStore } from '../store.ts'
import { type Column, printList, printTable } from '../table.ts'
import type { Style, Terminal } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'
import { given, namedWords, onlyStore } from '../words.ts'
import { type FilterOptions, filterOf } from './approvals-filter.ts'

export interface ListOptions extends FilterOptions {
  readonly last?: number
  readonly cursor?: string
  readonly tenant?: string
}

const LAST_BY_DEFAULT = 20

const stateStyle = (state: string): Style =>
  state === 'pending'
    ? 'yellow'
    : state === 'denied'
      ? 'red'
      : state === 'approved' || state === 'answered' || state === 'active'
        ? 'green'
        : 'dim'
const riskStyle = (risk: string): Style => (risk === 'critical' || risk === 'high' ? 'red' : risk === 'medium' ? 'yellow' : 'dim')
const subjectText = ({ subject }: Pick<ApprovalRow, 'subject'>): string => (subject === '' ? '(erased)' : subject)
const when = (at: number, now: number): string => `${time(at)} UTC (${fromNow(at, now)})`

export function listApprovals(t: Terminal, words: readonly string[], options: ListOptions): Promise<Exit> {
  const url = onlyStore(words)
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const { last, cursor } = options
    const page = await store.approvals.list({
      last: last ?? LAST_BY_DEFAULT,
      ...(await filterOf(store, options)),
      ...given({ cursor }),
    })
    if (t.json) {
      t.out(jsonLine(page))
      return EXIT.fine
    }
    if (page.items.length === 0)
      t.note(page.cursor === undefined ? `No approval matches in tenant ${store.tenantId}.` : 'No match on this page.')
    else printApprovals(t, page.items)
    if (page.cursor !== undefined) t.note(`More: add --cursor '${harmless(page.cursor)}'`)
    return EXIT.fine
  })
}

const columns: readonly Column[] = [
  { title: 'id', style: 'bold' },
  { title: 'state', style: stateStyle },
  { title: 'risk', optional: true, style: riskStyle },
  { title: 'type', most: 16, optional: true },
  { title: 'subject', most: 40, style: 'cyan' },
  { title: 'age', right: true, style: 'dim' },
  { title: 'outcome (UTC)' },
]

function printApprovals(t: Terminal, rows: readonly ApprovalRow[]): void {
  const now = Date.now()
  printList(
    t,
    columns,
    rows.map((row) => {
      const age = span(Math.max(0, now - row.askedAt))
      return [row.id, row.state, row.risk ?? '', row.subjectType ?? '', subjectText(row), age, standing(row, now)]
    }),
  )
}

/** Tells who may decide and until when; or who decided, and why. */
function standing({ state, deciders, expires, decidedBy, decidedAt, note, permit }: ApprovalRow, now: number): string {
  if (state === 'pending')
    return [
      deciders ? `for ${deciders.join(', ')}` : 'for anybody',
      expires === undefined ? '' : `until ${time(expires)} (${fromNow(expires, now)})`,
    ]
      .filter((text) => text !== '')
      .join(' ')
  const by = [permit ? `by permit ${shortId(permit)}` : '', decidedBy === undefined ? '' : `${permit ? 'of' : 'by'} ${decidedBy}`]
  const said = [...by, decidedAt === undefined ? '' : `at ${time(decidedAt)}`, note === undefined ? '' : `(${note})`]
  return said.filter((text) => text !== '').join(' ')
}

/** Fails if the approval does not exist. */
export async function knownApproval(store: Store, id: string): Promise<ApprovalRow> {
  const row = await store.approvals.get(id)
  if (!row) throw new InkError('APPROVAL_UNKNOWN', { id, tenant: store.tenantId })
  return row
}

export function showApproval(t: Terminal, words: readonly string[], options: { readonly tenant?: string }): Promise<Exit> {
  const { url, names } = namedWords(words, { approval: 'inkfast approvals list' })
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const row = await knownApproval(store, names[0] as string)
    const history: HistoryEntry[] = []
    for await (const entry of store.approvals.history(row.id)) history.push(entry)
    if (t.json) {
      t.out(jsonLine({ approval: row, history }))
      return EXIT.fine
    }
    tell(t, row)
    t.out(`\n${t.paint('bold', 'history')}`)
    printHistory(t, history)
    if (row.state === 'pending') t.note(`Decide: inkfast approvals approve … ${row.id} --digest ${row.digest ?? ''} --by <id>, or deny`)
    return EXIT.fine
  })
}

function tell(t: Terminal, row: ApprovalRow): void {
  const { line, json } = facts(t)
  const now = Date.now()
  line('id', row.id)
  line('state', row.state, stateStyle(row.state))
  line('kind', row.kind === 'ask' ? 'a question' : undefined)
  line('type', row.subjectType)
  line('subject', subjectText(row))
  json('data', row.data)
  line('data', row.blob && `(a blob of ${bytes(row.blob.bytes)}, ${row.blob.digest})`)
  line('digest', row.digest)
  line('risk', row.risk, riskStyle(row.risk ?? ''))
  line('session', row.session)
  line('run', row.run)
  line('key', row.key)
  line('asked', `${when(row.askedAt, now)}${row.askedBy === undefined ? '' : ` by ${row.askedBy}`}`)
  line('deciders', row.deciders?.join(', '))
  line('expires', row.expires === undefined ? undefined : when(row.expires, now))
  line(
    'decided',
    row.decidedAt === undefined ? undefined : `${when(row.decidedAt, now)}${row.decidedBy === undefined ? '' : ` by ${row.decidedBy}`}`,
  )
  line('note', row.note)
  json('value', row.value)
  line('permit', row.permit && `decided by ${row.permit}; no one was asked`)
  line('grants', row.grants && `the permit ${row.grants}`)
}

function printHistory(t: Terminal, history: readonly HistoryEntry[]): void {
  printTable(
    t,
    [
      { title: 'seq', right: true, style: 'bold' },
      { title: 'time (UTC)', style: 'dim' },
      { title: 'what', style: 'cyan' },
      { title: 'who', most: 32, optional: true },
      { title: 'more', optional: true },
    ],
    history.map(({ seq, at, what, by, actor, channel, ref, state, note, permit, erased }) => {
      const more = [state, channel, ref, permit && `permit ${permit}`, note && `(${note})`, erased && '(erased)']
      return [String(seq), time(at), what, by ?? actor ?? '', more.filter((text) => text !== undefined && text !== '').join(' ')]
    }),
  )
}

export interface PermitOptions extends Pick<ListOptions, 'state' | 'session' | 'last' | 'cursor' | 'tenant'> {}

export function listPermits(t: Terminal, words: readonly string[], options: PermitOptions): Promise<Exit> {
  const url = onlyStore(words)
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const { state, session, last, cursor } = options
    const page = await store.approvals.permits.list({
      last: last ?? LAST_BY_DEFAULT,
      ...given({ state: state as PermitState | undefined, cursor }),
      ...(session !== undefined && { session: (await findSession(store, session)).id }),
    })
    if (t.json) t.out(jsonLine(page))
    else if (page.items.length === 0) t.note(`No permit matches in tenant ${store.tenantId}.`)
    else printPermits(t, page.items)
    if (!t.json && page.cursor !== undefined) t.note(`More: add --cursor '${harmless(page.cursor)}'`)
    return EXIT.fine
  })
}

function printPermits(t: Terminal, rows: readonly PermitRow[]): void {
  const now = Date.now()
  printList(
    t,
    [
      { title: 'id', style: 'bold' },
      { title: 'state', style: stateStyle },
      { title: 'says', style: (says) => (says === 'deny' ? 'red' : 'green') },
      { title: 'type', most: 16, optional: true },
      { title: 'subject', most: 40, style: 'cyan' },
      { title: 'by', most: 24, optional: true },
      { title: 'scope (UTC)' },
    ],
    rows.map((row) => {
      const where = row.session
        ? `session ${row.session}`
        : row.until === undefined
          ? ''
          : `until ${time(row.until)} (${fromNow(row.until, now)})`
      return [row.id, row.state, row.decision, row.subjectType ?? '', subjectText(row), row.by ?? '', where]
    }),
  )
}
