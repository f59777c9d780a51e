// What people do to runs from the terminal: they are cancelled, resolved, forked and woken, and what makes no sense is refused.

import { beforeEach, describe, expect, test } from 'vitest'
import type { RunRow } from '../../src/index.ts'
import { digestOf, inStore, type RunIds, storeWithRuns, UNKNOWN } from './runs-support.ts'
import { copyForEach, inkHere as ink, inkHereJson as inkJson, lines } from './support.ts'

const copy = copyForEach((url) => storeWithRuns({ url }))
let ids: RunIds
let path: string

beforeEach(() => {
  path = copy.path
  ids = copy.made
})

const rowOf = (id: string): Promise<RunRow> => inStore(path, (store) => store.runs.get(id)) as Promise<RunRow>

describe('cancel', () => {
  test('runs cancel ends a run, and the journal says who did it and why', async () => {
    const { code, out } = await ink(['runs', 'cancel', path, ids.nap, '--reason', 'the order was withdrawn', '--actor', 'user_ops'])
    expect([code, out]).toEqual([0, `✓ nap (${ids.nap}) is cancelled; its lease holder can write nothing more\n`])
    expect(await rowOf(ids.nap)).toMatchObject({ state: 'cancelled', error: { message: 'the order was withdrawn' } })
    const events = lines((await ink(['events', path, '--run', ids.nap, '--type', 'run.cancelled', '--json'])).out)
    expect(JSON.parse(events[0] as string)).toMatchObject({ actor: 'user_ops' })
    expect(await ink(['runs', 'cancel', path, ids.nap, '--reason', 'again'])).toMatchObject({
      code: 5,
      err: expect.stringContaining('has already ended (cancelled)'),
    })
    expect((await ink(['verify', path])).code).toBe(0)
    expect((await ink(['rebuild', path, '--check'])).code).toBe(0)
  })

  test('runs cancel masks a secret in the reason, and tells it as JSON', async () => {
    const reason = 'token=ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2'
    expect(await inkJson(['runs', 'cancel', path, ids.nap, '--reason', reason])).toEqual({ run: ids.nap, name: 'nap', state: 'cancelled' })
    expect(JSON.stringify(await rowOf(ids.nap))).not.toContain('ghp_')
  })
})

describe('resolve', () => {
  const goesOn = () =>
    inStore(path, async (store) => {
      await using run = await (await store.session('support/4711')).run('pay', { wait: '5s' })
      return await run.effect('charge card', () => 'called again', { ifUnknown: 'ask' }).catch((error: Error) => error.message)
    })

  test('runs resolve says what came of an effect, and the run goes on with that', async () => {
    const { code, out } = await ink(['runs', 'resolve', path, ids.pay, 'charge card', '--result', '{"id":"ch_1"}'])
    expect([code, out]).toEqual([0, `✓ 'charge card' is recorded as done; pay (${ids.pay}) continues with it\n`])
    expect(await ink(['runs', 'resolve', path, ids.pay, 'charge card', '--result', '2'])).toMatchObject({ code: 3, out: '' })
    expect(await goesOn()).toEqual({ id: 'ch_1' })
  })

  test('runs resolve says that it failed, and why', async () => {
    expect(await inkJson(['runs', 'resolve', path, ids.pay, 'charge card', '--error', 'the bank never got it'])).toEqual({
      run: ids.pay,
      name: 'pay',
      effect: 'charge card',
      settled: 'failed',
    })
    expect(await goesOn()).toContain('the bank never got it')
  })
})

describe('fork', () => {
  test('runs fork makes a run that nobody holds, which goes on from what is shared', async () => {
    const tape = lines((await ink(['runs', 'tape', path, ids.answer, '--json'])).out).map((line) => JSON.parse(line))
    const at = tape.find((e) => e.type === 'effect.settled').seq
    const { code, out } = await ink(['runs', 'fork', path, ids.answer, '--at', String(at), '--key', 'second'])
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^✓ forked: \\S+ shares the steps of answer \\(${ids.answer}\\) up to seq ${at}; no worker holds it\n`))
    expect(out).toContain("await (await store.session('support/4711')).run('answer', { key: 'second' })")
    const id = /forked: (\S+)/.exec(out)?.[1] as string
    const { done, holder } = await inStore(path, async (store) => {
      const held = await store.runs.holder(id)
      await using run = await (await store.session('support/4711')).run('answer', { key: 'second' })
      expect(run.id).toBe(id)
      let called = false
      const found = await run.effect('find order', () => {
        called = true
      })
      expect([called, found]).toMatchObject([false, { id: 4711 }])
      await run.finish()
      return { done: run.state, holder: held }
    })
    expect([done, holder]).toEqual(['done', undefined])
    expect((await rowOf(ids.answer)).result).toEqual({ value: { reply: 'on its way' } })
  })
})

describe('wake', () => {
  test('runs wake has a run looked at again, and says so where there is nobody to look', async () => {
    expect((await ink(['runs', 'wake', path, ids.nap])).out).toContain(`✓ nap (${ids.nap}) is due now`)
    expect(await inkJson(['runs', 'wake', path, ids.nap])).toMatchObject({ run: ids.nap, woken: true })
    const own = await ink(['runs', 'wake', path, ids.pay])
    expect([own.code, own.out]).toEqual([0, expect.stringContaining('! pay')])
    expect(await inkJson(['runs', 'wake', path, ids.pay])).toMatchObject({ woken: false })
  })
})

describe('what is refused', () => {
  test.each([
    [['list', 'STORE', '--state', 'asleep'], 2, 'Allowed choices are pending'],
    [['list', 'STORE', '--bogus'], 2, "Unknown option '--bogus'. See inkfast runs list --help."],
    [['list', 'STORE', '--name', 'nap', '--state', 'waiting'], 2, 'runs can be listed by'],
    [['list', 'STORE', '--session', 'support/none'], 3, 'no session support/none'],
    [['list', 'STORE', '--tenant', 'acme'], 3, 'no tenant acme'],
    [['list', 'STORE', '--cursor', 'x'], 2, 'cursor'],
    [['list', 'STORE.not'], 3, 'There is no store'],
    [['STORE', 'show', UNKNOWN], 2, 'The verb comes before the store'],
    [['show', 'STORE'], 2, 'Missing <run>'],
    [['show', 'STORE', 'x'], 2, 'is not an id'],
    [['show', 'STORE', UNKNOWN], 3, 'There is no run'],
    [['show', 'STORE', UNKNOWN, 'more'], 2, 'Unexpected argument'],
    [['tape', 'STORE', UNKNOWN], 3, 'There is no run'],
    [['cancel', 'STORE', UNKNOWN, '--reason', 'x'], 3, 'There is no run'],
    [['cancel', 'STORE', 'ANSWER'], 2, '--reason'],
    [['cancel', 'STORE', 'ANSWER', '--reason', 'x'], 5, 'has already ended'],
    [['resolve', 'STORE', 'PAY'], 2, 'Missing <effect>'],
    [['resolve', 'STORE', 'PAY', 'charge card'], 2, 'Missing outcome'],
    [['resolve', 'STORE', 'PAY', 'charge card', '--result', '1', '--error', 'x'], 2, 'Missing outcome'],
    [['resolve', 'STORE', 'PAY', 'charge card', '--result', '{oops'], 2, 'is not JSON'],
    [['resolve', 'STORE', 'PAY', 'charge cash', '--result', '1'], 3, "'charge cash'"],
    [['resolve', 'STORE', 'ANSWER', 'send', '--result', '1'], 5, 'has already ended'],
    [['fork', 'STORE', 'ANSWER'], 2, 'Missing --at'],
    [['fork', 'STORE', 'ANSWER', '--at', '100000'], 2, 'beyond'],
    [['fork', 'STORE', UNKNOWN, '--at', '1'], 3, 'There is no run'],
    [['wake', 'STORE', 'ANSWER'], 5, 'has already ended'],
    [['wake', 'STORE', UNKNOWN], 3, 'There is no run'],
  ] as const)('runs %j ends with %i and one line', async (words, exit, said) => {
    const before = digestOf(path)
    const meant = words.map((word) => word.replace('STORE', path).replace('ANSWER', ids.answer).replace('PAY', ids.pay))
    const { code, out, err } = await ink(['runs', ...meant])
    expect([code, out]).toEqual([exit, ''])
    expect(err).toMatch(/^inkfast: .*\n$/)
    expect(err).toContain(said)
    expect(digestOf(path)).toBe(before)
  })

  test('a refusal of runs is an object with --json', async () => {
    expect((await inkJson(['runs', 'show', path, UNKNOWN])).error).toMatchObject({ code: 'RUN_UNKNOWN', kind: 'missing' })
    expect((await inkJson(['runs', 'wake', path, ids.answer])).error).toMatchObject({ code: 'RUN_FINISHED', kind: 'conflict' })
  })
})
