// Runs at the terminal: listed, shown, and read as a tape, in a file, a folder and on a server.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { beforeEach, describe, expect, test } from 'vitest'
import { elapsed } from '../../src/cli/runs/tape-lines.ts'
import { dollars } from '../../src/cli/runs/text.ts'
import { open, type RunRow } from '../../src/index.ts'
import { moduleAt } from '../support/programs.ts'
import { servedStore, TENANT_KEY } from './database-support.ts'
import { digestOf, inStore, type RunIds, storeWithRuns, UNKNOWN } from './runs-support.ts'
import { copyForEach, folder, inkHere as ink, inkHereJson as inkJson, lines } from './support.ts'

const copy = copyForEach((url) => storeWithRuns({ url }))
let ids: RunIds
let path: string

beforeEach(() => {
  path = copy.path
  ids = copy.made
})

const rowOf = (id: string): Promise<RunRow> => inStore(path, (store) => store.runs.get(id)) as Promise<RunRow>
const cellsOf = (out: string): string[][] => lines(out).map((line) => line.trim().split(/ {2,}/))

describe('list', () => {
  test('runs list shows each run with its state and what it waits for, newest first, and lines up', async () => {
    const { code, out, err } = await ink(['runs', 'list', path])
    expect([code, err]).toEqual([0, ''])
    const [head, ...rows] = lines(out)
    expect(head?.trim().split(/ {2,}/)).toEqual(['id', 'name', 'key', 'session', 'state', 'try', 'age', 'waits for (UTC)'])
    const shown = rows.map((line) => line.slice(0, 26))
    expect(shown.slice(0, 3).sort()).toEqual([ids.nobody, ids.whole, ids.part].sort())
    expect(shown.slice(3)).toEqual([ids.fails, ids.nap, ids.greet, ids.pay, ids.answer])
    const line = (id: string) => rows.find((row) => row.startsWith(id)) ?? ''
    expect(line(ids.greet)).toMatch(/ greet .* waiting .* approval 'refund 120 EUR', until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(in 47 h\)$/)
    expect(line(ids.nap)).toMatch(/ sleep, until \S+ \S+ \(in 2 h\)$/)
    expect(line(ids.pay)).toMatch(/ support\/4711 +waiting +2 .* the outcome of 'charge card' \(inkfast runs resolve\)$/)
    expect(line(ids.whole)).toMatch(/ run 'part'$/)
    expect(line(ids.part)).toMatch(/ part +work\/whole +waiting .* signal 'never'$/)
    expect(line(ids.fails)).toMatch(/ failed +1 .* Error: it broke$/)
    expect(line(ids.nobody)).toMatch(/ pending +0 /)
    const state = head?.indexOf('state') as number
    expect(rows.map((row) => row.slice(state, state + 4)).every((text) => /^(done|wait|fail|pend)$/.test(text))).toBe(true)
  })

  test('runs list may be left out, and tells the same as JSON', async () => {
    const { items } = await inkJson(['runs', path])
    expect(items).toHaveLength(8)
    expect(items.at(-1)).toMatchObject({ id: ids.answer, state: 'done', attempt: 1 })
    expect(await inkJson(['runs', '--json', 'list', path])).toMatchObject({ items })
  })

  test('runs list takes filters, and says how to go on', async () => {
    const names = async (...words: readonly string[]) =>
      (await inkJson(['runs', 'list', path, ...words])).items.map((row: RunRow) => row.name).sort()
    expect(await names('--state', 'waiting')).toEqual(['greet', 'nap', 'part', 'pay', 'whole'])
    expect(await names('--session', 'support/4711')).toEqual(['answer', 'pay'])
    expect(await names('--session', 'support/4711', '--state', 'done')).toEqual(['answer'])
    expect(await names('--name', 'nap')).toEqual(['nap'])
    const first = await ink(['runs', path, '--last', '3'])
    expect(lines(first.out)).toHaveLength(4)
    const cursor = /More: add --cursor '(.*)'\n/.exec(first.err)?.[1] as string
    const rest = await ink(['runs', 'list', path, '--cursor', cursor])
    expect(cellsOf(rest.out).map(([id]) => id)).toEqual(['id', ids.fails, ids.nap, ids.greet, ids.pay, ids.answer])
    expect(rest.err).toBe('')
  })

  test('runs list says so where nothing matches', async () => {
    expect(await ink(['runs', path, '--state', 'cancelled'])).toEqual({ code: 0, out: '', err: 'No run matches in tenant main.\n' })
  })
})

describe('show', () => {
  test('runs show tells everything about a run that has ended', async () => {
    const { code, out } = await ink(['runs', 'show', path, ids.answer])
    expect(code).toBe(0)
    const told = Object.fromEntries(lines(out).map((line) => [line.slice(0, 10).trim(), line.slice(10)]))
    expect(told).toMatchObject({ id: ids.answer, name: 'answer', state: 'done', attempts: '1', result: '{"reply":"on its way"}' })
    expect(told.session).toMatch(/^support\/4711 \(/)
    expect(told.ended).toMatch(/ UTC \(.* ago\)$/)
    expect(told.input).toContain('where is it?')
    expect(told.holder).toBeUndefined()
    expect(out).not.toContain('hunter2')
    expect(out).toMatch(/turn +example-large +812 +64 +0 +0 +0 +\$0\.004\n/)
    expect(out).toMatch(/tool +example-small +12 +4 +100 +0 +0 +\$0\.0000123\n/)
    expect(out).toMatch(/total +824 +68 +100 +0 +0 +\$0\.0040123\n/)
  })

  test('runs show tells who holds it, and until when', async () => {
    await using store = await open({ url: path, lease: { owner: 'desk 3' } })
    await using run = await (await store.session('support/4711')).run('held', { input: 1 })
    const { out } = await ink(['runs', 'show', path, run.id])
    expect(out).toMatch(
      new RegExp(`holder +desk 3, fence ${run.fence} \\(the lease of its session\\), until \\S+ \\S+ \\(in \\d+\\.\\d s\\)`),
    )
    const { holder } = await inkJson(['runs', 'show', path, run.id])
    expect(holder).toMatchObject({ owner: 'desk 3', fence: run.fence, lapsed: false })
    expect(holder.until).toBeGreaterThan(holder.now)
    await run.close()
    expect((await ink(['runs', 'show', path, run.id])).out).toContain('holder    none; the next node takes it up')
  })

  test('runs show tells that whoever held it is gone', async () => {
    const index = moduleAt(new URL('../../src/index.ts', import.meta.url))
    const program = `import { open } from '${index}'
      const store = await open({ url: ${JSON.stringify(path)}, lease: { ttl: 900, renew: 300, owner: 'desk 3' } })
      const run = await (await store.session('support/4711')).run('held')
      process.stdout.write(run.id)
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'close')
    const run = String((await once(child.stdout, 'data'))[0])
    child.kill('SIGKILL')
    await ended
    // Where nothing can be known of a process, its lease has to run out first.
    if (process.platform !== 'linux') await new Promise((resolve) => setTimeout(resolve, 1000))
    expect((await ink(['runs', 'show', path, run])).out).toMatch(/holder +desk 3, fence \d+, is gone or its lease expired/)
    expect((await inkJson(['runs', 'show', path, run])).holder).toMatchObject({ owner: 'desk 3', lapsed: true })
  })

  test('runs show tells what it waits for, its parent, its children, and what it was forked from', async () => {
    expect((await ink(['runs', 'show', path, ids.whole])).out).toMatch(new RegExp(`\nchildren\nid +name.*\n${ids.part} +part `))
    expect((await ink(['runs', 'show', path, ids.part])).out).toContain(`parent    ${ids.whole} whole, waiting`)
    const pay = await ink(['runs', 'show', path, ids.pay])
    expect(pay.out).toMatch(/\nwaits for\nkind +name\nunknown +charge card\n/)
    expect(pay.err).toContain(`inkfast runs resolve … ${ids.pay} 'charge card'`)
    expect((await ink(['runs', 'show', path, ids.fails])).out).toContain('error     Error: it broke')
    const { run: fork } = await inkJson(['runs', 'fork', path, ids.answer, '--at', '5'])
    expect((await ink(['runs', 'show', path, fork])).out).toContain(`fork of   ${ids.answer}, up to seq 5`)
  })

  test('runs show tells the same as JSON', async () => {
    const { run, session, children, total, holder } = await inkJson(['runs', 'show', path, ids.whole])
    expect(run).toEqual(JSON.parse(JSON.stringify(await rowOf(ids.whole))))
    expect([session.key, holder, children.map((one: RunRow) => one.id)]).toEqual(['work/whole', undefined, [ids.part]])
    expect((await inkJson(['runs', 'show', path, ids.answer])).total).toMatchObject({ inputTokens: 824, costUsd: 0.0040123 })
    expect(total.costUsd).toBe(0)
  })
})

describe('tape', () => {
  test('runs tape tells each thing that was asked for, with a mark, its branch, its try and what came of it', async () => {
    const { code, out, err } = await ink(['runs', 'tape', path, ids.answer])
    expect([code, err]).toEqual([0, ''])
    const rows = lines(out)
      .slice(1)
      .map((line) => line.replace(/^ *\d+ +\+[\d.]+ {2}/, ''))
    expect(rows).toEqual([
      expect.stringMatching(/^○ {2}opened .*where is it\?/),
      expect.stringMatching(/^» {2}taken up +1 +by .*, fence \d+$/),
      expect.stringMatching(/^✓ {2}find order +1 +[\d.]+ {2}\{"id":4711/),
      expect.stringMatching(/^↻ {2}send +1 +[\d.]+ {2}Error: the server is away …; again at \+0\.\d+$/),
      expect.stringMatching(/^✓ {2}send +2 +[\d.]+ {2}"sent"$/),
      expect.stringMatching(/^✗ {2}look up +1 +[\d.]+ {2}Error: no such address$/),
      expect.stringMatching(/^ +at .*runs-support\.ts/),
      expect.stringMatching(/^ +at /),
      expect.stringMatching(/^✓ {4}1\.left: x +1 +[\d.]+ {2}1$/),
      expect.stringMatching(/^✓ {6}1\.deep: x +1 +[\d.]+ {2}2$/),
      ...rows.slice(10, 14),
      expect.stringMatching(/^\$ {2}turn\/example-large +812 in, 64 out, \$0\.004$/),
      expect.stringMatching(/^\$ {2}tool\/example-small +12 in, 4 out, 100 cached, /),
      expect.stringMatching(/^✎ {2}plan\.changed +\{"steps":3\}$/),
      expect.stringMatching(/^⏸ {2}sleep +sleep, until \S+ \S+ \(\+\d+\.\d+\)$/),
      expect.stringMatching(/^▶ {2}sleep$/),
      expect.stringMatching(/^● {2}done +\{"reply":"on its way"\}$/),
    ])
    const raced = rows.slice(10, 14).join('\n')
    expect(raced).toMatch(/^✓ {4}2\.quick: x +1 +[\d.]+ {2}"quick"$/m)
    expect(raced).toMatch(/^⏸ {4}2\.slow: sleep +sleep, until /m)
    expect(raced).toMatch(/^⚑ {2}race +quick came first$/m)
    expect(out).not.toContain('\u001b')
    expect(out).toContain('\\u001b]0;owned\\u0007')
  })

  test('runs tape tells what was begun and of which nothing is known, and how somebody settled it', async () => {
    const key = await inStore(path, ({ runs }) => runs.effectKey(ids.pay, { branch: '', name: 'charge card', ordinal: 1 }))
    expect((await ink(['runs', 'tape', path, ids.pay])).out).toMatch(
      new RegExp(` \\? {2}charge card +1 {2}interrupted, outcome unknown; key ${key}\n`),
    )
    await ink(['runs', 'resolve', path, ids.pay, 'charge card', '--result', '{"id":"ch_1"}'])
    const { out } = await ink(['runs', 'tape', path, ids.pay])
    expect(out).toMatch(/ … {2}charge card +1 {2}begun\n/)
    expect(out).toMatch(/ ✓ {2}charge card +resolved by hand: \{"id":"ch_1"\}\n/)
  })

  test('runs tape of one that was given back tells so, and of a fork what it began with', async () => {
    expect((await ink(['runs', 'tape', path, ids.greet])).out).toMatch(/ « {2}released +while it waits\n$/)
    const { run } = await inkJson(['runs', 'fork', path, ids.answer, '--at', '5'])
    const { out } = await ink(['runs', 'tape', path, run])
    expect(out).toMatch(/✓ {2}find order/)
    expect(out).toMatch(new RegExp(`⑂ {2}forked +from ${ids.answer}, with its steps up to seq 5\\n`))
    expect(out).not.toContain('look up')
  })

  test('runs tape as JSON is every event, one a line', async () => {
    const events = lines((await ink(['runs', 'tape', path, ids.greet, '--json'])).out).map((line) => JSON.parse(line))
    expect(events.map((e) => e.type)).toContain('work.claimed')
    expect(new Set(events.map((e) => e.run))).toEqual(new Set([ids.greet]))
  })

  test('runs tape tells times to the millisecond while that says something', () => {
    expect([0, 214, 59_999, 185_214, 7_385_000, 266_585_000, -5].map(elapsed)).toEqual([
      '+0.000',
      '+0.214',
      '+59.999',
      '+3:05.214',
      '+2:03:05',
      '+3 d 02:03:05',
      '-0.005',
    ])
    expect([0n, 4_000_000n, 12_300n, 1_500_000_000n, 12_345_000_000_001n].map(dollars)).toEqual([
      '$0.00',
      '$0.004',
      '$0.0000123',
      '$1.50',
      '$12,345.000000001',
    ])
  })
})

test('looking changes nothing', async () => {
  const before = digestOf(path)
  for (const words of [['list'], ['show'], ['tape']])
    expect((await ink(['runs', ...words, path, ...(words[0] === 'list' ? [] : [ids.pay])])).code).toBe(0)
  expect(digestOf(path)).toBe(before)
  await ink(['runs', 'wake', path, ids.nap])
  expect(digestOf(path)).not.toBe(before)
})

test.each(['list', 'show', 'tape', 'cancel', 'resolve', 'fork', 'wake'])(
  '%s --help has its options, an example and exit codes',
  async (verb) => {
    const { code, out } = await ink(['runs', verb, '--help'])
    expect(code).toBe(0)
    expect(out).toContain(`Usage: inkfast runs ${verb} [options] [store]`)
    expect(out).toMatch(/Examples:\n {2}inkfast runs /)
    expect(out).toContain('--json')
    expect(out).toContain('--tenant <tenant>')
    expect(out).toContain('Exit codes:')
  },
)

test('the store may be left out where INKFAST_URL names it', async () => {
  const env = { INKFAST_URL: path }
  expect((await ink(['runs'], env)).out).toContain(ids.pay)
  expect((await ink(['runs', 'show', ids.pay], env)).out).toContain(ids.pay)
  expect((await ink(['runs', 'resolve', ids.pay, 'charge card', '--error', 'no'], env)).code).toBe(0)
  expect((await ink(['runs', 'show', path, ids.pay], env)).code).toBe(0)
})

test('a folder that keeps a file for each tenant, and another tenant than main', async () => {
  const url = folder()
  const own = await storeWithRuns({ url, layout: 'tenant' }, 'acme')
  const acme = ['--tenant', 'acme'] as const
  expect((await inkJson(['runs', url, ...acme])).items).toHaveLength(8)
  expect((await ink(['runs', 'tape', url, own.answer, ...acme])).out).toContain('find order')
  expect((await ink(['runs', 'show', url, own.answer])).code).toBe(3)
  expect((await ink(['runs', 'cancel', url, own.nap, '--reason', 'x', '--actor', 'user_ops', ...acme])).code).toBe(0)
  expect((await inkJson(['runs', 'show', url, own.nap, ...acme])).run.state).toBe('cancelled')
})

test('a store on a server, as a node and as a login that may only look', async () => {
  const served = await servedStore()
  const own = await storeWithRuns({ url: served.node, tenantKey: TENANT_KEY })
  const env = { INKFAST_URL: served.node, INKFAST_TENANT_KEY: TENANT_KEY }
  for (const url of [served.node, served.reader]) {
    const asked = { ...env, INKFAST_URL: url }
    expect(lines((await ink(['runs'], asked)).out)).toHaveLength(9)
    expect((await ink(['runs', 'show', own.pay], asked)).out).toMatch(/unknown +charge card/)
    expect((await ink(['runs', 'tape', own.answer], asked)).out).toMatch(/✓ {2}find order/)
  }
  expect((await ink(['runs', 'cancel', own.nap, '--reason', 'x'], { ...env, INKFAST_URL: served.reader })).code).toBe(3)
  expect((await ink(['runs', 'cancel', own.nap, '--reason', 'x'], env)).code).toBe(0)
  expect((await ink(['runs', 'resolve', own.pay, 'charge card', '--result', '1'], env)).code).toBe(0)
  expect((await ink(['runs', 'wake', own.greet], env)).out).toContain('is due now')
  const forked = JSON.parse((await ink(['runs', 'fork', own.answer, '--at', '9', '--json'], env)).out)
  expect((await ink(['runs', 'show', forked.run], env)).out).toContain('none')
  expect((await ink(['runs', 'show', UNKNOWN], env)).code).toBe(3)
  expect((await ink(['verify'], env)).code).toBe(0)
  expect((await ink(['rebuild', '--check'], env)).code).toBe(0)
})
