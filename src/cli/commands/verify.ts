// Verifies that the journal is unchanged: walks every tenant's chain, checks the pages of the file meanwhile, and names the evidence used.

import { InkError, type Receipt, type Store, type VerifyReport } from '../../index.ts'
import { EXIT, type Exit } from '../exit.ts'
import { count, one, shortHash, span, time } from '../format.ts'
import { progress } from '../progress.ts'
import { readReceipts } from '../receipts.ts'
import { type TenantViews, tellClosed, tenantViews, withStore } from '../store.ts'
import { type Column, markColumn, printTable } from '../table.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'

export interface VerifyCommandOptions {
  readonly tenant?: string
  readonly receipts?: string
  /** Checks the pages of the file too; true unless --no-pages. */
  readonly pages?: boolean
}

const LINES_TOLD = 20

interface Checked extends VerifyReport {
  readonly tenant: string
  readonly ms: number
  readonly eventsPerSecond: number
}

export function verify(t: Terminal, url: string | undefined, options: VerifyCommandOptions): Promise<Exit> {
  const receipts = options.receipts === undefined ? [] : readReceipts(options.receipts)
  return withStore(url, async (store) => {
    const { views, closed } = await viewsOf(store, options.tenant, receipts)
    // The check runs on its own thread during the walk and costs next to nothing. A command that ends early does not wait for it.
    const pages = options.pages === false ? undefined : store.check()
    pages?.catch(() => 'told when it is waited for')
    const tenants: Checked[] = []
    try {
      for (const view of views) tenants.push(await check(t, view, receipts))
    } catch (error) {
      if (!(error instanceof InkError) || error.code !== 'FILE_CORRUPT' || !pages) throw error
      // The damaged pages are part of the report: where they are, and how many.
      const damage = await pages
      if (!t.json) for (const line of damage) t.note(harmless(line))
      throw new InkError('FILE_CORRUPT', { ...error.details, pages: damage }, error)
    }
    const looking = progress(t, 'checking the pages')
    const damage = await pages
    looking.end()
    const intact = tenants.every((r) => r.intact) && (damage ?? []).length === 0
    const rest = { ...(closed.length > 0 && { closed }), ...(damage && { pages: { sound: damage.length === 0, damage } }) }
    if (t.json) t.out(jsonLine({ intact, tenants, ...rest }))
    else {
      tell(t, tenants, damage, store.name === 'postgres')
      tellClosed(t, closed)
    }
    return (damage ?? []).length > 0 ? EXIT.corrupt : intact ? EXIT.fine : EXIT.unsound
  })
}

// A receipt of a missing tenant is the strongest evidence of all, so that tenant is checked too.
async function viewsOf(store: Store, tenant: string | undefined, receipts: readonly Receipt[]): Promise<TenantViews> {
  if (tenant !== undefined && receipts.some((r) => r.tenant === tenant)) return { views: [store.tenant(tenant)], closed: [] }
  const { views, closed } = await tenantViews(store, tenant)
  if (tenant !== undefined) return { views, closed }
  const known = new Set<string>([...views.map((view) => view.tenantId), ...closed.map((one) => one.tenant)])
  const gone = [...new Set(receipts.map((r) => r.tenant))].filter((id) => !known.has(id))
  return { views: [...views, ...gone.map((id) => store.tenant(id))], closed }
}

async function check(t: Terminal, store: Store, receipts: readonly Receipt[]): Promise<Checked> {
  const walking = progress(t, `verifying tenant ${store.tenantId}`)
  const started = performance.now()
  try {
    const report = await store.verify({
      receipts: receipts.filter((r) => r.tenant === store.tenantId),
      signal: t.signal,
      progress: walking.tell,
    })
    const ms = performance.now() - started
    return {
      tenant: store.tenantId,
      ...report,
      ms: Math.round(ms),
      eventsPerSecond: Math.round((1000 * report.events) / Math.max(ms, 0.001)),
    }
  } finally {
    walking.end()
  }
}

const columns: readonly Column[] = [
  markColumn,
  { title: 'tenant', most: 32, style: 'bold' },
  { title: 'events', right: true },
  { title: 'head', right: true },
  { title: 'hash', style: 'dim' },
  { title: 'intact', right: true },
  { title: 'erased', right: true },
  { title: 'unsound', right: true },
  { title: 'events/s', right: true, style: 'dim' },
]

function tell(t: Terminal, tenants: readonly Checked[], damage: readonly string[] | undefined, server: boolean): void {
  if (tenants.length === 0) t.out('The store has no tenants yet, so there is nothing to verify.')
  else {
    printTable(
      t,
      columns,
      tenants.map((r) => [
        r.intact ? '✓' : '✗',
        r.tenant,
        count(r.events),
        String(r.head.seq),
        r.head.seq === 0 ? '' : shortHash(r.head.hash),
        count(r.states.intact),
        count(r.states.erased),
        count(r.states.corrupt + r.states.missing + r.states['erased-unauthorised']),
        rate(r),
      ]),
    )
    t.out('')
  }
  for (const r of tenants) tellProblems(t, r)
  for (const r of tenants) tellErasures(t, r)
  for (const r of tenants) tellTimes(t, r)
  if (damage && damage.length > 0) {
    t.out(verdict(t, 'fail', server ? 'the server reports damage:' : 'the pages of the file are damaged:'))
    for (const line of damage) t.out(`    ${harmless(line)}`)
  }
  const unsound = tenants.filter((r) => !r.intact)
  if (unsound.length === 0 && (damage ?? []).length === 0) {
    const sound = damage === undefined ? '' : server ? ', the server reports no damage' : ', every page is sound'
    const ms = tenants.reduce((sum, r) => sum + r.ms, 0)
    t.out(verdict(t, 'ok', `intact: every payload, header and link is unchanged${sound} (${span(ms)})`))
  } else if (unsound.every((r) => r.problems.length === 0 && r.references.intact) && (damage ?? []).length === 0) {
    t.out(`${t.paint('bold', 'What to do: ')}the journal is intact. Delete the damaged receipts, as the operating guide says.`)
  } else {
    t.out(
      `${t.paint('bold', 'What to do: ')}keep a copy of this ${server ? 'database' : 'file'} for examination, and restore a backup that verifies.`,
    )
  }
  if (tenants.length > 0) t.out(t.paint('dim', restsOn(tenants)))
}

// Too few events give no meaningful rate.
const rate = (r: Checked): string => (r.ms >= 5 ? count(r.eventsPerSecond) : '')

function tellProblems(t: Terminal, r: Checked): void {
  if (r.intact) return
  for (const { seq, reason } of r.keys.problems) t.out(verdict(t, 'fail', `tenant ${r.tenant}: ${reason} (seq ${seq})`))
  for (const { seq, ref, reason } of r.references.problems)
    t.out(verdict(t, 'fail', `tenant ${r.tenant}: ${reason} (seq ${seq}, ${harmless(ref)})`))
  if (r.problems.length === 0) return
  t.out(verdict(t, 'fail', `tenant ${r.tenant} is not intact, first at seq ${r.brokenAt}`))
  for (const p of r.problems) t.out(`    seq ${p.seq}  ${p.state}: ${harmless(p.reason)}`)
  const told = r.problems.length
  const all = r.states.corrupt + r.states.missing + r.states['erased-unauthorised']
  if (all > told) t.out(`    … the first ${told} are shown; ${one(all, 'event')} in all`)
}

function tellErasures(t: Terminal, r: Checked): void {
  if (r.erasureCount === 0) return
  t.out(`tenant ${r.tenant} has ${one(r.erasureCount, 'erasure')}; compare with your orders:`)
  for (const e of r.erasures.slice(0, LINES_TOLD))
    t.out(`    seq ${e.seq}  ${time(e.at)}  ${harmless(e.actor) || 'no actor'}: ${harmless(e.reason)} (${one(e.erased, 'payload')})`)
  if (r.erasureCount > LINES_TOLD) t.out(`    … the first ${LINES_TOLD} are shown; --json lists more`)
}

function tellTimes(t: Terminal, r: Checked): void {
  for (const { seq, at, previousAt } of r.backwardTimes)
    t.out(
      verdict(
        t,
        'warn',
        `tenant ${r.tenant}, seq ${seq}: its time ${time(at)} lies before that of the event before it, ${time(previousAt)}`,
      ),
    )
}

function restsOn(tenants: readonly Checked[]): string {
  const receipts = tenants.reduce((sum, r) => sum + r.anchors.receipts, 0)
  if (receipts === 0) return 'Based on the chain alone, which cannot reveal a truncated journal. Compare it with receipts: --receipts.'
  const without = tenants.filter((r) => r.anchors.receipts === 0).map((r) => r.tenant)
  const rest = without.length > 0 ? ` There is none for ${without.join(', ')}: a chain alone cannot reveal a truncated journal.` : ''
  return `Based on the chain and ${one(receipts, 'receipt')} kept elsewhere.${rest}`
}
