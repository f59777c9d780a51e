// What failed, and what nobody handles, at the terminal: the first lines of errors, and names that wait.

import { describe, expect, test } from 'vitest'
import { open, type Run } from '../../src/index.ts'
import { folder, inkHere as ink, inkHereJson as inkJson, lines } from './support.ts'

const chargeCard = (): never => {
  throw new Error('the card was not charged', { cause: new TypeError('the bank did not answer', { cause: new Error('no route') }) })
}

const MINUTE = 60_000

/** A store whose items were offered a minute ago. */
async function storeOfYesterday(path: string): Promise<{ readonly run: string; readonly item: string }> {
  await using store = await open({ url: path, logger: false, clock: { now: () => Date.now() - MINUTE } })
  await using node = store.work({
    charge: async (run: Run) => {
      await run.effect('card', chargeCard).catch(() => {})
      chargeCard()
    },
  })
  const run = await store.start('charge', { session: 's' })
  await run.result().catch(() => {})
  await node.close()
  const item = await store.queue('mail').offer({ to: 'ada' })
  await (await store.queue('mail').claim())?.fail(new Error('no such address', { cause: new Error('mailbox gone') }), { final: true })
  await store.queue('mail').offer({ to: 'bob' })
  await store.start('refnd', { session: 't' })
  return { run: run.id, item: item.id }
}

describe('a store in which things failed and nobody works', () => {
  test('runs show, the tape, queue show and the list of dead items tell where it was thrown, and why', async () => {
    const path = `${folder()}/agents.db`
    const { run, item } = await storeOfYesterday(path)
    const told = async (...words: readonly string[]): Promise<string> => {
      const { code, out } = await ink([...words])
      expect(code).toBe(0)
      return out
    }
    const shown = await told('runs', 'show', path, run)
    expect(shown).toMatch(/error +Error: the card was not charged\n +at chargeCard \(.*failures-told\.test\.ts/)
    expect(shown).toMatch(/\n +caused by TypeError: the bank did not answer\n +at chargeCard .*\n +caused by Error: no route\n/)
    const tape = await told('runs', 'tape', path, run)
    expect(tape.match(/caused by TypeError: the bank did not answer/g)).toHaveLength(2)
    expect(tape.match(/^ +at chargeCard /gm)?.length).toBeGreaterThanOrEqual(4)
    for (const out of [await told('queue', 'list', path, 'mail', '--state', 'dead'), await told('queue', 'show', path, 'mail', item)]) {
      expect(out).toMatch(/Error: no such address\n +at .*failures-told\.test\.ts/)
      expect(out).toMatch(/ caused by Error: mailbox gone/)
    }
  })

  test('runs list, queue list and doctor tell the names that nobody handles', async () => {
    const path = `${folder()}/agents.db`
    await storeOfYesterday(path)
    const runs = await ink(['runs', 'list', path])
    expect(lines(runs.out).filter((line) => line.includes('nobody handles'))).toEqual([
      expect.stringMatching(/ refnd .* pending .* nobody handles runs named 'refnd'$/),
    ])
    expect((await inkJson(['runs', 'list', path])).unhandled).toMatchObject([{ kind: 'run', name: 'refnd' }])
    const queues = await ink(['queue', path])
    expect(queues.out).toMatch(/queue +ready .* handled by\nmail .* nobody\n/)
    const items = await ink(['queue', 'list', path, 'mail'])
    expect(items.err).toMatch(/^Nobody handles items of queue 'mail', for 1 min\. Start a process that calls store\.queue\('mail'\)\.work/)
    const doctor = await ink(['doctor', path])
    expect(doctor.code).toBe(0)
    expect(doctor.out).toMatch(/work main +nobody handles items of queue 'mail', for 1 min\n.*→ Start a process/)
    expect(doctor.out).toMatch(/work main +nobody handles runs named 'refnd'/)
    expect(doctor.out).toMatch(/health +ok/)
  })

  test('the control: while a process works, nothing is told', async () => {
    const path = `${folder()}/agents.db`
    await storeOfYesterday(path)
    const idle = () => new Promise(() => {})
    await using store = await open({ url: path, logger: false })
    await using _ = store.work({ refnd: idle }, { drain: 0 })
    await using __ = store.queue('mail').work(idle, { drain: 0 })
    await expect.poll(async () => (await store.queue('mail').stats()).claimed, { timeout: 20_000 }).toBe(1)
    await expect.poll(async () => (await ink(['doctor', path])).out, { timeout: 20_000 }).not.toContain('nobody handles')
    for (const words of [
      ['runs', 'list', path],
      ['queue', path],
      ['queue', 'list', path, 'mail'],
    ]) {
      const { out, err } = await ink(words)
      expect(out + err).not.toMatch(/nobody/i)
    }
  })
})
