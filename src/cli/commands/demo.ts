// The product in a few seconds: a writer is killed while it writes, copies are tampered with, and each claim is measured on the spot.

import { randomBytes, randomInt } from 'node:crypto'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Event, open, type Receipt, type Store, type VerifyReport } from '../../index.ts'
import { type Claim, chainIntact, cutSeen, receiptsStand, rowsFold, secretAbsent, stepsOnce, tamperNamed } from '../demo/claims.ts'
import { changeByte, cutTail } from '../demo/tamper.ts'
import { type Round, writeUntilKilled } from '../demo/writer.ts'
import { EXIT, type Exit } from '../exit.ts'
import { count, padded, span } from '../format.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { cut, jsonLine, padEnd } from '../text.ts'

export interface DemoOptions {
  readonly keep?: boolean
  readonly kills?: number
}

const CALLERS = 32
const KILLS_BY_DEFAULT = 3
const LAST_WORDS = 5
const CLAIM_COLUMNS = 60

interface Planted {
  readonly receipts: readonly Receipt[]
  /** The seq of the event that will be tampered with. */
  readonly refund: number
  readonly secrets: readonly string[]
}

const REFUND = '"amount":120'
const BESIDE = 'weather for the delivery address'

export async function demo(t: Terminal, { keep = false, kills = KILLS_BY_DEFAULT }: DemoOptions): Promise<Exit> {
  const started = performance.now()
  const folder = mkdtempSync(join(tmpdir(), 'inkfast-demo-'))
  try {
    const story = new Story(t)
    await tellStory(story, join(folder, 'agents.db'), kills, t.signal)
    const ok = story.claims.every((c) => c.ok)
    const ms = Math.round(performance.now() - started)
    if (t.json) t.out(jsonLine({ ok, claims: story.claims, ms, ...(keep && { folder }) }))
    else story.end(ok, ms, keep ? folder : undefined)
    return ok ? EXIT.fine : EXIT.unsound
  } finally {
    if (!keep) rmSync(folder, { recursive: true, force: true })
  }
}

async function tellStory(story: Story, path: string, kills: number, signal: AbortSignal): Promise<void> {
  story.chapter('An agent writes, and is killed while it writes', [
    `${CALLERS} callers append to one file from a process of their own. A receipt`,
    'counts once its promise has resolved; then the process gets SIGKILL, with',
    'commits still on their way to the disk.',
  ])
  const acknowledged: Receipt[] = []
  let done: readonly number[] = Array.from({ length: CALLERS }, () => 0)
  let repeated = 0
  for (let kill = 1; kill <= kills; kill++) {
    const round: Round = await writeUntilKilled({ path, done }, randomInt(400, 1200), signal)
    acknowledged.push(...round.receipts)
    done = round.done
    repeated += round.repeated
    story.line(
      `kill ${kill}   ${padded(round.receipts.length, 6)} receipts in ${span(round.ms)}, ${round.inFlight} in flight${round.repeated > 0 ? `, ${round.repeated} found again by key` : ''}`,
    )
  }

  story.chapter('What was acknowledged is there', ['The file is opened again; everything in it is read, hashed and folded anew.'])
  const store = await open({ url: path, create: false })
  let planted: Planted
  try {
    const events = await allEvents(store)
    story.claim(receiptsStand(acknowledged, events))
    story.claim(stepsOnce(events.values(), repeated))
    story.claim(chainIntact('the hash chain is intact', await store.verify({ receipts: acknowledged, signal })))
    story.claim(rowsFold(await store.rebuild({ check: true, signal })))
    planted = await plant(store)
    acknowledged.push(...planted.receipts)

    story.chapter('What must not be kept is not kept', ['A tool call with an API key and a password in it is appended like any other.'])
    // Before closing, so that the log beside the file is searched too.
    const files = readdirSync(join(path, '..')).map((name) => readFileSync(join(path, '..', name)))
    story.claim(secretAbsent(files, planted.secrets, BESIDE))
  } finally {
    await store.close()
  }

  story.chapter('What was changed is seen', [`In a copy, one byte is changed: event ${planted.refund}, a refund of 120 EUR, says 920.`])
  const changed = `${path}.changed`
  copyFileSync(path, changed)
  changeByte(changed, REFUND, REFUND.indexOf('1'), '9')
  story.claim(tamperNamed(await verifyFile(changed), planted.refund))
  story.claim(chainIntact('the original is still intact', await verifyFile(path, acknowledged)))

  const last = acknowledged.at(-1)?.seq ?? 0
  story.line('')
  story.line(`In another copy, the last ${LAST_WORDS} events are deleted and the head is set back,`)
  story.line('so that the chain fits.')
  story.line('')
  const shorter = `${path}.cut`
  copyFileSync(path, shorter)
  cutTail(shorter, 'main', last - LAST_WORDS)
  story.claim(cutSeen(await verifyFile(shorter), await verifyFile(shorter, acknowledged), last - LAST_WORDS + 1))
}

async function allEvents(store: Store): Promise<ReadonlyMap<number, Event>> {
  const events = new Map<number, Event>()
  for await (const e of store.events()) events.set(e.seq, e)
  return events
}

/** The events the rest of the story is about, appended by this process. */
async function plant(store: Store): Promise<Planted> {
  const session = await store.session('demo/refunds', { title: 'Refunds' })
  const refund = await session.append('approval.noted', { order: 4711, amount: 120, currency: 'EUR', by: 'user_7' })
  const secrets = [`sk-proj-${randomBytes(24).toString('hex')}`, randomBytes(12).toString('base64url')] as const
  const call = await session.append('tool.called', {
    tool: 'http.get',
    arguments: { about: BESIDE, headers: { authorization: `Bearer ${secrets[0]}` }, password: secrets[1] },
  })
  const words: Receipt[] = []
  for (let i = 1; i <= LAST_WORDS; i++) words.push(await session.append('turn.finished', { turn: i, reason: 'stop' }))
  return { receipts: [refund, call, ...words], refund: refund.seq, secrets }
}

async function verifyFile(path: string, receipts: readonly Receipt[] = []): Promise<VerifyReport> {
  const store = await open({ url: path, create: false, redact: false })
  try {
    return await store.verify({ receipts })
  } finally {
    await store.close()
  }
}

class Story {
  readonly claims: Claim[] = []
  readonly #t: Terminal
  #chapters = 0

  constructor(t: Terminal) {
    this.#t = t
    this.#out(`${t.paint('bold', 'Inkfast')}  agent runs, in permanent ink. Every number below is measured now.`)
  }

  chapter(title: string, about: readonly string[]): void {
    this.#out('')
    this.#out(this.#t.paint('bold', `${++this.#chapters}. ${title}`))
    for (const line of about) this.#out(`   ${this.#t.paint('dim', line)}`)
    this.#out('')
  }

  line(text: string): void {
    this.#out(text === '' ? '' : `   ${this.#t.paint('dim', text)}`)
  }

  claim(claim: Claim): void {
    this.claims.push(claim)
    const { width } = this.#t
    // Beside the claim where there is room, below it where there is not.
    const beside = width === undefined || width >= CLAIM_COLUMNS + 60
    const said = verdict(this.#t, claim.ok ? 'ok' : 'fail', beside ? padEnd(claim.claim, CLAIM_COLUMNS) : claim.claim)
    const measured = width === undefined ? claim.measured : cut(claim.measured, beside ? width - CLAIM_COLUMNS - 6 : width - 6)
    this.#out(`   ${said}${beside ? ' ' : '\n     '}${this.#t.paint('dim', measured)}`)
  }

  end(ok: boolean, ms: number, folder: string | undefined): void {
    const held = this.claims.filter((c) => c.ok).length
    this.#out('')
    this.#out(verdict(this.#t, ok ? 'ok' : 'fail', `${count(held)} of ${count(this.claims.length)} claims hold, in ${span(ms)}.`))
    if (!ok) this.#out('  This is a defect in Inkfast or in this machine. Run inkfast demo --keep and report it with the folder.')
    if (folder) {
      this.#out(`  The stores are in ${folder}`)
      this.#out(`  Next: inkfast events ${join(folder, 'agents.db')}`)
    } else this.#out("  Next: inkfast demo --keep to look inside, import { open } from 'inkfast'.")
  }

  #out(line: string): void {
    if (!this.#t.json) this.#t.out(line)
  }
}
