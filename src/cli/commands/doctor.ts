// Examines a store from the outside in: this program, the folder, the file and, if it opens, the content. It still reports something if the
// store cannot be opened.

import { basename, dirname, join, resolve } from 'node:path'
import { inspectDatabase, isDatabase, placeOf } from '../../database.ts'
import { changedSchema, isFolderStore, STORE_FILE } from '../../folder.ts'
import { type Health, InkError, type Store, type Unhandled } from '../../index.ts'
import { clockText } from '../../model/clock-trust.ts'
import { unhandledText } from '../../model/unhandled.ts'
import { EXIT, type Exit, failureOf } from '../exit.ts'
import { diskFindings, type Finding, fail, fileFindings, fileThere, folderFindings, ok, programFindings, warn } from '../findings.ts'
import { bytes, one, shortHash, span, time } from '../format.ts'
import { progress } from '../progress.ts'
import { storePath, withStore } from '../store.ts'
import { environment, type Terminal, verdict } from '../terminal.ts'
import { displayWidth, harmless, jsonLine } from '../text.ts'

const TENANTS_TOLD = 20
const AHEAD_TOLD = 5

export async function doctor(t: Terminal, url: string | undefined): Promise<Exit> {
  const store = storePath(url)
  if (isDatabase(store)) return report(t, placeOf(store).place, await databaseFindings(t, store))
  const path = resolve(store)
  const folder = isFolderStore(path)
  const findings: Finding[] = [
    ...programFindings(),
    ...(folder ? folderFindings(path) : fileFindings(path, dirname(path), basename(path))),
    ...(await diskFindings(folder ? join(path, STORE_FILE) : path)),
  ]
  const looking = progress(t, 'checking the pages of the file')
  // Opening a missing file would only repeat the finding.
  if (fileThere(path)) {
    try {
      findings.push(...(await withStore(path, inside)), guardFinding(changedSchema(path)))
    } catch (error) {
      t.signal.throwIfAborted()
      findings.push(fail('opens', failureOf(error).error.message, ''))
    }
  }
  looking.end()
  return report(t, path, findings)
}

async function databaseFindings(t: Terminal, url: string): Promise<readonly Finding[]> {
  const { tenantKey } = environment
  const findings: Finding[] = [...programFindings()]
  const looking = progress(t, 'checking the database')
  try {
    findings.push(...(await inspectDatabase({ url, ...(tenantKey !== undefined && { tenantKey }) })))
    findings.push(...(await withStore(url, inside)))
  } catch (error) {
    t.signal.throwIfAborted()
    findings.push(fail('opens', failureOf(error).error.message, ''))
  } finally {
    looking.end()
  }
  return findings
}

function report(t: Terminal, path: string, findings: readonly Finding[]): Exit {
  const sound = findings.every((f) => f.state !== 'fail')
  if (t.json) t.out(jsonLine({ store: path, ok: sound, findings }))
  else tell(t, path, findings, sound)
  return sound ? EXIT.fine : EXIT.unsound
}

async function inside(store: Store): Promise<readonly Finding[]> {
  const server = store.name === 'postgres'
  // open() refuses a file unless both were read back, so reaching this line is the finding.
  const findings: Finding[] = server ? [] : [ok('opens', 'write-ahead logging and durability full are in effect')]
  // A server's health adds nothing to its other findings.
  if (!server) {
    const health = await store.health()
    findings.push(healthFinding(health, store.stats().budget.ms, await unhandledOf(store)), ...clockFindings(health))
  }
  const damage = await store.check()
  findings.push(
    damage.length === 0
      ? ok(
          'pages',
          server ? 'the server reports no damage' : `every page and index is sound (${bytes((await store.measure()).bytes.database ?? 0)})`,
        )
      : fail('pages', damage.join('; '), server ? '' : 'Keep a copy for examination and restore a backup.'),
  )
  const tenants = await store.tenants()
  if (tenants.length === 0) findings.push(ok('journal', 'it has no tenants yet'))
  for (const id of tenants.slice(0, TENANTS_TOLD)) findings.push(...(await tenantFindings(store, id)))
  if (tenants.length > TENANTS_TOLD)
    findings.push(ok('journal', `and ${tenants.length - TENANTS_TOLD} more tenants, not checked one by one`))
  return findings
}

/** Triggers refuse forbidden changes of the journal. */
const guardFinding = (changed: readonly string[]): Finding =>
  changed.length === 0
    ? ok('guards', 'every table, index and trigger is unchanged')
    : warn('guards', changed.join('; '), 'Someone changed the schema: run inkfast verify and rebuild --check, and restore a backup.')

/** Names that nobody handles are findings of their tenant, and the clock is one of its own. */
function healthFinding({ status, why, clock }: Health, budgetMs: number, unhandled: readonly Unhandled[]): Finding {
  const elsewhere = [...unhandled.map((one) => unhandledText(one).found), ...(clock ? [clockText(clock).found] : [])]
  const others = why.filter((one) => !elsewhere.includes(one))
  return status === 'ok' || (others.length === 0 && why.length > 0)
    ? ok('health', `ok; the write budget is ${budgetMs} ms`)
    : warn('health', others.join('; '), 'Check the disk and other programs that use the store.')
}

function clockFindings({ clock }: Health): readonly Finding[] {
  if (!clock) return []
  const { found, todo } = clockText(clock)
  return [warn('clock', found, todo)]
}

/** A closed tenant answers no question about its work. */
const unhandledOf = async (store: Store): Promise<readonly Unhandled[]> =>
  (await store.tenantState(store.tenantId)) === 'active' ? store.unhandled() : []

async function tenantFindings(root: Store, id: string): Promise<readonly Finding[]> {
  try {
    return await lookInto(root, id)
  } catch (error) {
    // Each tenant may have its own file, so the others are still examined.
    if (!(error instanceof InkError) || error.kind !== 'corrupt') throw error
    return [fail(`journal ${id}`, error.message, '')]
  }
}

async function lookInto(root: Store, id: string): Promise<readonly Finding[]> {
  const state = await root.tenantState(id)
  const store = root.tenant(id)
  const head = await store.head()
  if (state !== 'active') return [ok(`journal ${id}`, `${state}, not checked; ${one(head.seq, 'event')}, head ${shortHash(head.hash)}`)]
  return [
    await journalFinding(store, head),
    ...(await keyFindings(store)),
    ...(await aheadFindings(store)),
    ...(await unhandledFindings(store)),
  ]
}

/** A sound tenant says nothing about its keys: its other findings are enough. */
async function keyFindings(store: Store): Promise<readonly Finding[]> {
  const { problems } = await store.verifyKeys()
  const todo = 'Delete the damaged receipts, as the operating guide says. A later retry under such a key is a new command.'
  return problems.map(({ seq, reason }) => fail(`keys ${store.tenantId}`, `${reason} (seq ${seq})`, todo))
}

/** Names that something has waited for, and no live worker handles. */
async function unhandledFindings(store: Store): Promise<readonly Finding[]> {
  const now = Date.now()
  return (await store.unhandled()).map((one) => {
    const { found, todo } = unhandledText(one)
    return warn(`work ${store.tenantId}`, `${found}, for ${span(Math.max(0, now - one.since))}`, todo)
  })
}

/** Times ahead of the store's clock, which is the machine's on SQLite and the database's on PostgreSQL. */
async function aheadFindings(store: Store): Promise<readonly Finding[]> {
  const { now, events, items } = await store.ahead()
  const few = (told: readonly string[]): string =>
    `${told.slice(0, AHEAD_TOLD).join(', ')}${told.length > AHEAD_TOLD ? `, and ${told.length - AHEAD_TOLD} or more others` : ''}`
  const due = (at: number): string => `${span(at - now)} ahead (${time(at)} UTC)`
  return [
    ...(events.length === 0
      ? []
      : [
          warn(
            `events ${store.tenantId}`,
            `in the future: ${few(events.map(({ seq, type, at }) => `seq ${seq} ${type} ${due(at)}`))}`,
            'A clock is wrong: that of the store, or that of the writer. Correct it. The order by seq is not affected.',
          ),
        ]),
    ...(items.length === 0
      ? []
      : [
          warn(
            `items ${store.tenantId}`,
            `due far in the future: ${few(items.map(({ queue, id, at }) => `${queue} ${id} ${due(at)}`))}`,
            'If a clock was ahead when they were offered, cancel them (inkfast queue cancel) and offer them again.',
          ),
        ]),
  ]
}

async function journalFinding(store: Store, head: { readonly seq: number; readonly hash: string }): Promise<Finding> {
  const name = `journal ${store.tenantId}`
  const [last] = (await store.page({ backwards: true, limit: 1 })).items
  if (!last) return fail(name, `the head is seq ${head.seq}, but there is no event`, 'Run inkfast verify.')
  return ok(name, `${one(head.seq, 'event')}, head ${shortHash(head.hash)}, last event at ${time(last.at)} UTC`)
}

function tell(t: Terminal, path: string, findings: readonly Finding[], sound: boolean): void {
  t.out(t.paint('bold', harmless(path)))
  t.out('')
  const width = Math.max(...findings.map((f) => displayWidth(harmless(f.name))))
  for (const f of findings) {
    t.out(verdict(t, f.state, `${harmless(f.name)}${' '.repeat(width - displayWidth(harmless(f.name)))}  ${f.found}`))
    if (f.todo) t.out(`  ${' '.repeat(width)}  ${t.paint('bold', '→')} ${harmless(f.todo)}`)
  }
  t.out('')
  const [fails, warns] = [findings.filter((f) => f.state === 'fail').length, findings.filter((f) => f.state === 'warn').length]
  if (!sound) t.out(verdict(t, 'fail', `${one(fails, 'problem')}: follow the arrows above`))
  else
    t.out(
      verdict(
        t,
        warns > 0 ? 'warn' : 'ok',
        `${warns > 0 ? `usable, with ${one(warns, 'warning')}` : 'sound'}. Run inkfast verify to check the journal itself.`,
      ),
    )
}
