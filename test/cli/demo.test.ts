// The demo holds what it claims, and each of its claims can fail.

import { appendFileSync, copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { demo, type Meddling } from '../../src/cli/commands/demo.ts'
import { chainIntact, cutSeen, receiptsStand, rowsFold, secretAbsent, stepsOnce, tamperNamed } from '../../src/cli/demo/claims.ts'
import { type Action, act, actions, actOnce } from '../../src/cli/demo/outbox.ts'
import { actionsOnce, answerHeard, fencesGrow, lateRefused, recordedReplayed, replacedAtOnce } from '../../src/cli/demo/run-claims.ts'
import type { Owner } from '../../src/cli/demo/takeover.ts'
import { changeByte, cutTail } from '../../src/cli/demo/tamper.ts'
import type { Terminal } from '../../src/cli/terminal.ts'
import { type Event, open } from '../../src/index.ts'
import { folder, ink, lines, MARKER, smallStore, withDatabase } from './support.ts'

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

test('the demo proves every claim, and leaves nothing behind', async () => {
  const { code, out } = await ink(['demo', '--json'])
  const report = JSON.parse(out)
  expect(report.claims.filter((c: { ok: boolean }) => !c.ok)).toEqual([])
  expect(report.claims).toHaveLength(14)
  expect([report.ok, code]).toEqual([true, 0])
  // Twenty seconds on an idle machine; on a busy one, as many times longer as there are processes for each core, and as much again.
  expect(report.ms).toBeLessThan(20_000 * Math.max(1, (2 * Math.max(...loadavg())) / availableParallelism()))
  expect(report.folder).toBeUndefined()
  expect(report.owners.map((owner: Owner) => owner.steps)).toEqual([
    { charge: 'executed' },
    { charge: 'replayed', mail: 'begun' },
    { charge: 'replayed', mail: 'executed' },
    { charge: 'replayed', mail: 'replayed', approval: 'answered', parcel: 'executed' },
  ])
  expect(report.owners.every((owner: Owner) => isGone(owner.pid))).toBe(true)
})

test('--keep leaves the stores, which verify as the demo said, and the run, whose tape can be read', async () => {
  const { code, out } = await ink(['demo', '--keep', '--kills', '1'])
  const kept = /The stores are in (\S+)/.exec(out)?.[1] as string
  const path = join(kept, 'agents.db')
  try {
    expect(code).toBe(0)
    expect(out).toMatch(/\n +1 ✓ each action happened exactly once +in the outbox: charge 1, mail 1 \(tried 2 times, one key\), parcel 1\n/)
    expect(out).toMatch(/resumes and tries to write: FENCE_LOST\n +│ Another worker took over lease \S+ \(fence \d+, yours was \d+\)/)
    expect((await ink(['verify', path])).code).toBe(0)
    expect((await ink(['verify', `${path}.changed`])).code).toBe(1)
    expect((await ink(['rebuild', '--check', path])).code).toBe(0)
    const next = /Next: inkfast (.*)/.exec(out)?.[1]?.split(' ') as string[]
    const tape = await ink(next)
    expect(tape.code).toBe(0)
    expect(lines(tape.out).filter((line) => line.includes('taken up'))).toHaveLength(4)
    expect(actions(join(kept, 'outbox.txt')).map(({ tool }) => tool)).toEqual(['charge', 'mail', 'parcel'])
  } finally {
    rmSync(kept, { recursive: true })
  }
  expect(existsSync(kept)).toBe(false)
})

describe('behind its back', () => {
  const told = async (meddling: Meddling) => {
    const out: string[] = []
    const { signal } = new AbortController()
    const quiet = { json: true, width: undefined, watched: false, signal, room: async () => {}, paint: (_: string, text: string) => text }
    const terminal: Terminal = { ...quiet, out: (line) => void out.push(line), note: () => {}, status: () => {} }
    const code = await demo(terminal, { kills: 1 }, meddling)
    return { code, failed: JSON.parse(out.join('')).claims.filter((c: { ok: boolean }) => !c.ok) as { claim: string }[] }
  }

  test('a second charge is seen, the exit code says so, and the folder goes away all the same', async () => {
    // A folder of its own for temporary files: other runs on this machine have demos, too.
    const temporary = folder()
    vi.stubEnv('TMPDIR', temporary)
    onTestFinished(() => void vi.unstubAllEnvs())
    let made = ''
    const meddled = await told({
      outbox: (path) => {
        made = path
        act(path, { tool: 'charge', pid: 1 })
      },
    })
    expect(meddled.code).toBe(1)
    expect(meddled.failed.map(({ claim }) => claim)).toEqual(['each action happened exactly once'])
    expect(made.startsWith(temporary)).toBe(true)
    expect(readdirSync(temporary)).toEqual([])
  })

  test('an action that never happened is seen', async () => {
    expect((await told({ outbox: (path) => rmSync(path) })).code).toBe(1)
  })
})

test('the outbox keeps what is done twice, except where it is told the same key', () => {
  const outbox = join(folder(), 'outbox.txt')
  act(outbox, { tool: 'charge', pid: 1 })
  act(outbox, { tool: 'charge', pid: 2 })
  expect([actOnce(outbox, { tool: 'mail', pid: 1, key: 'k' }), actOnce(outbox, { tool: 'mail', pid: 2, key: 'k' })]).toEqual([true, false])
  expect(actions(outbox).map(({ tool, pid }) => `${tool} ${pid}`)).toEqual(['charge 1', 'charge 2', 'mail 1'])
  appendFileSync(outbox, 'not a line of ours\n')
  expect(() => actions(outbox)).toThrow()
})

describe('a claim of the run fails', () => {
  const owner = (fence: number, steps: Owner['steps'], afterMs = 200): Owner => ({ pid: 1, fence, steps, end: '', afterMs })
  const owners = [
    owner(2, { charge: 'executed' }),
    owner(6, { charge: 'replayed', mail: 'begun' }),
    owner(8, { charge: 'replayed', mail: 'executed' }),
    owner(11, { charge: 'replayed', mail: 'replayed', approval: 'answered', parcel: 'executed' }),
  ]
  const event = (seq: number, type: string, data: unknown, at = seq * 1000) => ({ seq, type, data, at }) as Event
  const lease = (seq: number, until = seq * 1000 + 30_000, mark: unknown = {}) => event(seq, 'lease.taken', { until, mark })
  const ended = [event(13, 'wait.ended', { kind: 'approval', by: 'user_grace' }), event(16, 'run.finished', {})]
  const tape = [lease(2), lease(6), lease(8), lease(11), ...ended]
  const action = (tool: string): Action => ({ tool, pid: 1 })
  const once = ['charge', 'mail', 'parcel'].map(action)

  test('a claim of the demo fails when something was done twice, was not done, or when nothing was asked for twice', () => {
    expect(actionsOnce(once, owners).ok).toBe(true)
    expect(actionsOnce([...once, action('charge')], owners).ok).toBe(false)
    expect(actionsOnce([...once, action('another')], owners).ok).toBe(false)
    expect(actionsOnce(once.slice(1), owners).ok).toBe(false)
    expect(actionsOnce(once, owners.slice(2)).ok).toBe(false)
  })

  test('a claim of the demo fails when something recorded was executed again, or replayed before it was recorded', () => {
    expect(recordedReplayed(owners)).toMatchObject({ ok: true, measured: '4 steps replayed' })
    expect(recordedReplayed([...owners, owner(20, { charge: 'executed' })]).ok).toBe(false)
    expect(recordedReplayed([owner(1, { charge: 'replayed' }), ...owners]).ok).toBe(false)
    expect(recordedReplayed(owners.slice(0, 1)).ok).toBe(false)
  })

  test('a claim of the demo fails when a lease was waited for whose owner is provably gone', () => {
    expect(replacedAtOnce({ owners, tape })).toMatchObject({ ok: true, measured: 'after 200 ms and 200 ms, with 26.0 s of the lease left' })
    expect(replacedAtOnce({ owners, tape: [lease(2, 5000), lease(6), lease(8), lease(11)] }).ok).toBe(false)
    expect(replacedAtOnce({ owners, tape: tape.slice(1) }).ok).toBe(false)
    // Where nothing can be known of processes, it has to be waited for.
    expect(replacedAtOnce({ owners, tape: [event(2, 'lease.taken', { until: 5000 }), lease(6), lease(8), lease(11)] }).ok).toBe(true)
  })

  test('a claim of the demo fails when a fence does not grow, or is not the one that the journal granted', () => {
    expect(fencesGrow({ owners, tape }).ok).toBe(true)
    expect(fencesGrow({ owners: owners.toReversed(), tape }).ok).toBe(false)
    expect(fencesGrow({ owners, tape: [...tape, lease(12)] }).ok).toBe(false)
  })

  test('a claim of the demo fails when the late write is let through, or refused for another reason', () => {
    const refusal = { code: 'FENCE_LOST', message: '', grown: 0 }
    expect(lateRefused({ owners, refusal }).ok).toBe(true)
    expect(lateRefused({ owners, refusal: { ...refusal, grown: 2 } }).ok).toBe(false)
    expect(lateRefused({ owners, refusal: { ...refusal, code: 'RUN_FINISHED' } }).ok).toBe(false)
  })

  test('a claim of the demo fails when nobody heard the answer, or the run did not end', () => {
    expect(answerHeard({ owners, tape, answeredMs: 16 }).ok).toBe(true)
    expect(answerHeard({ owners, tape: tape.slice(0, 4), answeredMs: 16 }).ok).toBe(false)
    expect(answerHeard({ owners, tape: tape.slice(0, 5), answeredMs: 16 }).ok).toBe(false)
    expect(answerHeard({ owners: owners.slice(0, 3), tape, answeredMs: 16 }).ok).toBe(false)
  })
})

const eventsOf = async (path: string): Promise<ReadonlyMap<number, Event>> => {
  await using store = await open(path)
  const events = new Map<number, Event>()
  for await (const e of store.events()) events.set(e.seq, e)
  return events
}

const verifyFile = async (path: string, receipts: Parameters<typeof receiptsStand>[0] = []) => {
  await using store = await open(path)
  return await store.verify({ receipts })
}

test('a receipt with another hash, or for an event that is not there, fails the first claim', async () => {
  const { path, receipts } = await smallStore()
  const mine = receipts.filter((r) => r.tenant === 'main')
  const events = await eventsOf(path)
  expect(receiptsStand(mine, events)).toMatchObject({ ok: true, measured: '6 of 6' })
  const [first, ...rest] = mine as [(typeof mine)[0], ...typeof mine]
  expect(receiptsStand([{ ...first, hash: '0'.repeat(64) }, ...rest], events)).toMatchObject({ ok: false, measured: '5 of 6' })
  expect(receiptsStand([{ ...first, seq: 99 }, ...rest], events).ok).toBe(false)
  expect(receiptsStand([], events).ok).toBe(false)
})

test('a step that is there twice, or was left out, fails', () => {
  const step = (caller: number, n: number) => ({ data: { caller, step: n } }) as unknown as Event
  expect(stepsOnce([step(0, 1), step(1, 1), step(0, 2)], 0).ok).toBe(true)
  expect(stepsOnce([step(0, 1), step(0, 1)], 0).ok).toBe(false)
  expect(stepsOnce([step(0, 1), step(0, 3)], 0).ok).toBe(false)
  expect(stepsOnce([], 0).ok).toBe(false)
})

test('a copy that nobody touched fails the claim that tampering is named; so does the wrong event', async () => {
  const { path, marked } = await smallStore()
  const copy = `${path}.copy`
  copyFileSync(path, copy)
  expect(tamperNamed(await verifyFile(copy), marked)).toMatchObject({ ok: false, measured: 'nothing was found' })
  changeByte(copy, MARKER, 4, 'L')
  const report = await verifyFile(copy)
  expect(tamperNamed(report, marked).ok).toBe(true)
  expect(tamperNamed(report, marked + 1).ok).toBe(false)
  expect(chainIntact('the chain is intact', report).ok).toBe(false)
  expect(chainIntact('the chain is intact', await verifyFile(path)).ok).toBe(true)
  expect(() => changeByte(copy, 'words that are nowhere', 0, 'x')).toThrow('0 times')
})

test('a tail that was not cut fails the claim that the cut is seen', async () => {
  const { path, receipts } = await smallStore()
  const mine = receipts.filter((r) => r.tenant === 'main')
  const held = await verifyFile(path, mine)
  expect(cutSeen(held, held, 7).ok).toBe(false)
  cutTail(path, 'main', 6)
  expect(cutSeen(await verifyFile(path), await verifyFile(path, mine), 8).ok).toBe(true)
  expect(cutSeen(await verifyFile(path), await verifyFile(path), 8).ok).toBe(false)
})

test('a row changed by hand fails the claim that rows are the fold', async () => {
  const { path } = await smallStore()
  const check = async () => {
    await using store = await open(path)
    return rowsFold(await store.rebuild({ check: true }))
  }
  expect((await check()).ok).toBe(true)
  withDatabase(path, (db) => db.exec("update sessions set body = json_set(body, '$.title', 'x') where tenant = 'main'"))
  expect((await check()).ok).toBe(false)
})

test('a secret that was written fails, and so does a search that finds nothing at all', async () => {
  const { path } = await smallStore()
  const files = [readFileSync(path)]
  expect(secretAbsent(files, ['sk-never-written'], MARKER).ok).toBe(true)
  expect(secretAbsent(files, [MARKER], 'plan.changed').ok).toBe(false)
  expect(secretAbsent(files, ['sk-never-written'], 'words that are nowhere').ok).toBe(false)
})
