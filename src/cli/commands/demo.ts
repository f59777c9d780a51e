// Shows the product in a few seconds: an agent is killed and stopped at the worst moments, and other processes take over. Many writers are
// killed, copies are tampered with, and each claim is measured on the spot.

import { randomBytes, randomInt } from 'node:crypto'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Event, open, type Receipt, type Store, type VerifyReport } from '../../index.ts'
import { chainIntact, cutSeen, receiptsStand, rowsFold, secretAbsent, stepsOnce, tamperNamed } from '../demo/claims.ts'
import { actions } from '../demo/outbox.ts'
import { actionsOnce, answerHeard, fencesGrow, lateRefused, recordedReplayed, replacedAtOnce } from '../demo/run-claims.ts'
import { Story } from '../demo/story.ts'
import { type Owner, type Takeover, takeOver } from '../demo/takeover.ts'
import { changeByte, cutTail } from '../demo/tamper.ts'
import { type Round, writeUntilKilled } from '../demo/writer.ts'
import { EXIT, type Exit } from '../exit.ts'
import { padded, span } from '../format.ts'
import type { Terminal } from '../terminal.ts'
import { jsonLine } from '../text.ts'

export interface DemoOptions {
  readonly keep?: boolean
  readonly kills?: number
}

/** For tests only: a hidden fault that one of the claims must detect. */
export interface Meddling {
  readonly outbox?: (path: string) => void
}

const CALLERS = 32
const KILLS_BY_DEFAULT = 3
const LAST_WORDS = 5

interface Planted {
  readonly receipts: readonly Receipt[]
  readonly secrets: readonly string[]
}

const CHARGE = '"charged":120'
const BESIDE = 'weather for the delivery address'

export async function demo(t: Terminal, { keep = false, kills = KILLS_BY_DEFAULT }: DemoOptions, meddling: Meddling = {}): Promise<Exit> {
  const started = performance.now()
  const folder = mkdtempSync(join(tmpdir(), 'inkfast-demo-'))
  try {
    const story = new Story(t)
    const path = join(folder, 'agents.db')
    const taken = await tellOfRun(story, path, meddling, t.signal)
    const acknowledged = await tellOfKills(story, path, kills, t.signal)
    await tellOfTampering(story, path, acknowledged, taken)
    const ok = story.claims.every((c) => c.ok)
    const ms = Math.round(performance.now() - started)
    if (t.json) t.out(jsonLine({ ok, claims: story.claims, owners: taken.owners, ms, ...(keep && { folder, run: taken.run }) }))
    else story.end(ok, ms, keep ? folder : undefined, taken.run)
    return ok ? EXIT.fine : EXIT.unsound
  } finally {
    if (!keep) rmSync(folder, { recursive: true, force: true })
  }
}

async function tellOfRun(story: Story, path: string, meddling: Meddling, signal: AbortSignal): Promise<Takeover> {
  story.chapter('An agent is killed at the worst moments, and another one continues', [
    'The agent charges a card, sends a mail, asks for approval and ships a parcel.',
    'Every action adds a line to an outbox. Four processes own the run in turn: the',
    'first is killed after the charge is recorded, the second inside the mail, and the',
    'third is stopped until its lease expires. The fourth finishes the run. The mail',
    'server checks an idempotency key; only the recorded tape protects the charge.',
  ])
  const outbox = join(path, '..', 'outbox.txt')
  const store = await open(path)
  try {
    const taken = await takeOver(store, path, outbox, signal)
    story.table(
      [{ title: 'owner' }, { title: 'fence', right: true }, ...STEPS.map((title) => ({ title })), { title: 'end' }],
      taken.owners.map(ownerCells),
    )
    story.quote(`pid ${taken.owners[2]?.pid} resumes and tries to write: ${taken.refusal.code}`, taken.refusal.message)
    meddling.outbox?.(outbox)
    story.claim(actionsOnce(actions(outbox), taken.owners))
    story.claim(recordedReplayed(taken.owners))
    story.claim(replacedAtOnce(taken))
    story.claim(fencesGrow(taken))
    story.claim(lateRefused(taken))
    story.claim(answerHeard(taken))
    return taken
  } finally {
    await store.close()
  }
}

const STEPS = ['charge', 'mail', 'approval', 'parcel'] as const

const ownerCells = ({ pid, fence, steps, end }: Owner): readonly string[] => [
  `pid ${pid}`,
  String(fence),
  ...STEPS.map((step) => steps[step] ?? ''),
  end,
]

/** Returns all receipts. */
async function tellOfKills(story: Story, path: string, kills: number, signal: AbortSignal): Promise<readonly Receipt[]> {
  story.chapter('Concurrent writers are killed while they write', [
    `${CALLERS} callers append to one file from one process. An event is acknowledged when`,
    'its promise resolves. SIGKILL ends the process while commits are in flight. Then',
    'the demo reads every event, verifies the hash chain and rebuilds the rows.',
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
      `kill ${kill}   ${padded(round.receipts.length, 6)} acknowledged in ${span(round.ms)}, ${round.inFlight} in flight${round.repeated > 0 ? `, ${round.repeated} retries deduplicated by key` : ''}`,
    )
  }
  story.line('')
  const store = await open({ url: path, create: false })
  try {
    const events = await allEvents(store)
    story.claim(receiptsStand(acknowledged, events))
    story.claim(stepsOnce(events.values(), repeated))
    story.claim(chainIntact('the hash chain is intact', await store.verify({ receipts: acknowledged, signal })))
    story.claim(rowsFold(await store.rebuild({ check: true, signal })))

    story.chapter('Secrets never reach the disk', ['The agent appends a tool call that contains an API key and a password.'])
    const planted = await plant(store)
    // Searched before closing, so that the log beside the file is included.
    const files = readdirSync(join(path, '..')).map((name) => readFileSync(join(path, '..', name)))
    story.claim(secretAbsent(files, planted.secrets, BESIDE))
    return [...acknowledged, ...planted.receipts]
  } finally {
    await store.close()
  }
}

async function tellOfTampering(story: Story, path: string, acknowledged: readonly Receipt[], { tape }: Takeover): Promise<void> {
  const charge = tape.find(({ type, data }) => type === 'effect.settled' && (data as { name?: string }).name === 'charge')?.seq ?? 0
  story.chapter('Tampering is detected', [`One byte is changed in a copy: event ${charge}, the charge of 120 EUR, now says 920.`])
  const changed = `${path}.changed`
  copyFileSync(path, changed)
  changeByte(changed, CHARGE, CHARGE.indexOf('1'), '9')
  story.claim(tamperNamed(await verifyFile(changed), charge))
  story.claim(chainIntact('the original is still intact', await verifyFile(path, acknowledged)))

  const last = acknowledged.at(-1)?.seq ?? 0
  story.line('')
  story.line(`In another copy the last ${LAST_WORDS} events are deleted, and the head is set back so that`)
  story.line('the chain still fits.')
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

/** Plants a secret that must not be found, and the last events, which will be cut off. */
async function plant(store: Store): Promise<Planted> {
  const session = await store.session('demo/secrets', { title: 'Secrets' })
  const secrets = [`sk-proj-${randomBytes(24).toString('hex')}`, randomBytes(12).toString('base64url')] as const
  const call = await session.append('tool.called', {
    tool: 'http.get',
    arguments: { about: BESIDE, headers: { authorization: `Bearer ${secrets[0]}` }, password: secrets[1] },
  })
  const words: Receipt[] = []
  for (let i = 1; i <= LAST_WORDS; i++) words.push(await session.append('message.sent', { message: i, role: 'agent' }))
  return { receipts: [call, ...words], secrets }
}

async function verifyFile(path: string, receipts: readonly Receipt[] = []): Promise<VerifyReport> {
  const store = await open({ url: path, create: false, redact: false })
  try {
    return await store.verify({ receipts })
  } finally {
    await store.close()
  }
}
