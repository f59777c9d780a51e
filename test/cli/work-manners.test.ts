// The manners that queue, cron, triggers and processes share: help, narrow terminals, empty stores, other tenants, and looking that changes nothing.

import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { displayWidth } from '../../src/cli/text.ts'
import { open } from '../../src/index.ts'
import { digestOf } from './runs-support.ts'
import { copyForEach, folder, ink, inkHere, inkHereJson, lines } from './support.ts'
import { SECRET, storeWithWork, type WorkIds } from './work-support.ts'

const copy = copyForEach((url) => storeWithWork({ url }))
let ids: WorkIds
let path: string

beforeEach(() => {
  path = copy.path
  ids = copy.made
})

/** Everything that only looks, on this store. */
const looks = (url: string, { ready, held, dead, firing }: WorkIds): readonly (readonly string[])[] => [
  ['queue', url, '--all'],
  ['queue', 'list', url, 'outbox'],
  ['queue', 'list', url, 'bad'],
  ['queue', 'show', url, 'outbox', ready],
  ['queue', 'show', url, 'outbox', held],
  ['queue', 'show', url, 'bad', dead],
  ['cron', url],
  ['cron', 'show', url, 'digest'],
  ['cron', 'show', url, 'poll'],
  ['triggers', url],
  ['triggers', 'show', url, 'audit'],
  ['triggers', 'history', url],
  ['triggers', 'firing', url, firing],
  ['processes', url],
  ['processes', 'show', url, 'crawl/4711'],
  ['processes', 'events', url, 'crawl/4711'],
]

const VERBS: Readonly<Record<string, readonly string[]>> = {
  queue: ['stats', 'list', 'show', 'offer', 'cancel', 'redrive'],
  cron: ['list', 'show', 'set', 'pause', 'resume', 'run', 'backfill', 'delete'],
  triggers: ['list', 'show', 'history', 'firing', 'fire', 'disable', 'enable', 'delete'],
  processes: ['list', 'show', 'events', 'cancel', 'abandon', 'grant', 'revoke', 'prune'],
}
const LOOKING = ['stats', 'list', 'show', 'history', 'firing', 'events']

test.each(Object.entries(VERBS))(
  'every verb of %s has its own help, with its options, an example and exit codes',
  async (command, verbs) => {
    const whole = (await inkHere([command, '--help'])).out
    for (const verb of verbs) {
      expect(whole).toMatch(new RegExp(`^ {2}${verb} `, 'm'))
      const { code, out } = await inkHere([command, verb, '--help'])
      expect(code).toBe(0)
      expect(out).toContain(`Usage: inkfast ${command} ${verb} [options] [store]`)
      expect(out).toMatch(new RegExp(`Examples:\\n {2}inkfast ${command} `))
      for (const text of ['--json', '--tenant <tenant>', 'Exit codes:']) expect(out).toContain(text)
      expect(out.includes('--actor <actor>')).toBe(!LOOKING.includes(verb))
    }
  },
)

describe('on a terminal', () => {
  test.each([80, 100, 140])('no line is longer than a terminal of %i columns', async (width) => {
    for (const words of looks(path, ids)) {
      const { code, out } = await inkHere(words, width)
      expect(code).toBe(0)
      for (const line of lines(out)) expect(displayWidth(line), `${words.join(' ')}: ${line}`).toBeLessThanOrEqual(width)
    }
  })

  test('on a narrow terminal a sentence stands beside its row where there is room, and below where there is not', async () => {
    const outbox = lines((await inkHere(['queue', 'list', path, 'outbox'], 80)).out)
    expect(outbox[0]).not.toContain('status')
    expect(outbox[outbox.findIndex((line) => line.startsWith(ids.ready)) + 1]).toBe('  due now')
    const triggers = lines((await inkHere(['triggers', path], 80)).out)
    expect(triggers[0]).toMatch(/ for$/)
    expect(triggers[1]).toMatch(/ everything$/)
  })

  test('nothing that is stored can drive a terminal, and no secret is shown', async () => {
    for (const words of looks(path, ids)) {
      for (const { out, err } of [await inkHere(words), await inkHere(words, 80), await inkHere([...words, '--json'])]) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
        expect((out + err).replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
        expect(out + err).not.toContain(SECRET)
      }
    }
  })
})

test('looking changes nothing, and doing does', async () => {
  const before = digestOf(path)
  for (const words of looks(path, ids)) expect((await inkHere(words)).code).toBe(0)
  expect(digestOf(path)).toBe(before)
  await inkHere(['cron', 'run', path, 'digest'])
  expect(digestOf(path)).not.toBe(before)
})

test('in a store without any of it every list says so and is empty', async () => {
  const empty = join(folder(), 'agents.db')
  await (await open(empty)).close()
  for (const [words, said] of [
    [['queue', empty], 'All queues of tenant main are empty. Add --all for the internal queues.\n'],
    [['queue', empty, '--all'], 'All queues of tenant main are empty.\n'],
    [['queue', 'list', empty, 'outbox'], 'Queue outbox of tenant main is empty; so are all others.\n'],
    [['cron', empty], 'No job is set in tenant main.\n'],
    [['triggers', empty], 'No trigger matches in tenant main.\n'],
    [['triggers', 'history', empty], 'No firing matches in tenant main.\n'],
    [['processes', empty], 'No process matches in tenant main.\n'],
  ] as const)
    expect(await inkHere(words)).toEqual({ code: 0, out: '', err: said })
  expect(await inkHereJson(['queue', empty])).toEqual({ queues: [] })
  for (const command of ['cron', 'triggers', 'processes']) expect(await inkHereJson([command, empty])).toEqual({ items: [] })
  expect((await inkHere(['queue', 'offer', empty, 'outbox', '1'])).code).toBe(0)
})

test('a folder that keeps a file for each tenant, and another tenant than main', async () => {
  const url = folder()
  const own = await storeWithWork({ url, layout: 'tenant' }, 'acme')
  const acme = ['--tenant', 'acme'] as const
  for (const words of looks(url, own)) expect((await inkHere([...words, ...acme])).code).toBe(0)
  expect((await inkHere(['queue', 'show', url, 'outbox', own.ready])).code).toBe(3)
  expect((await inkHere(['queue', 'cancel', url, 'outbox', own.ready, '--reason', 'x', '--actor', 'user_ops', ...acme])).code).toBe(0)
  expect((await inkHere(['cron', 'delete', url, 'poll'])).code).toBe(3)
  expect((await inkHere(['cron', 'delete', url, 'poll', ...acme])).code).toBe(0)
  expect((await inkHere(['triggers', 'disable', url, 'mail', ...acme])).code).toBe(0)
  expect((await inkHere(['processes', 'cancel', url, 'crawl/4711', '--reason', 'x', ...acme])).code).toBe(0)
  expect((await inkHere(['rebuild', url, '--check'])).code).toBe(0)
})

test('the store may be left out where INKFAST_URL names it', async () => {
  const env = { INKFAST_URL: path }
  expect((await ink(['queue'], env)).out).toContain('outbox')
  expect((await ink(['queue', 'list', 'outbox'], env)).out).toContain(ids.ready)
  expect((await ink(['queue', 'show', path, 'outbox', ids.ready], env)).code).toBe(0)
  expect((await ink(['queue', 'offer', 'outbox', '1'], env)).code).toBe(0)
  expect((await ink(['queue', 'redrive', 'bad', ids.dead], env)).out).toContain('1 dead item')
  expect((await ink(['queue', 'redrive', path, 'mail'], env)).out).toContain('1 dead item')
  expect((await ink(['queue', 'redrive', 'mail'], env)).out).toContain('queue mail has no dead items')
  expect((await ink(['cron', 'show', 'digest'], env)).code).toBe(0)
  expect((await ink(['processes', 'prune', '--before', '1d'], env)).code).toBe(0)
})

test('a failure is an object with --json', async () => {
  const codeOf = async (...words: readonly string[]) => (await inkHereJson(words)).error
  expect(await codeOf('queue', 'show', path, 'bad', ids.ready)).toMatchObject({ code: 'WORK_UNKNOWN', kind: 'missing' })
  expect(await codeOf('cron', 'show', path, 'digst')).toMatchObject({ code: 'JOB_UNKNOWN', kind: 'missing', details: { job: 'digst' } })
  expect(await codeOf('cron', 'set', path, 'x', '--queue', 'q', '--every', '0s')).toMatchObject({
    code: 'SCHEDULE_INVALID',
    kind: 'invalid',
  })
  expect(await codeOf('triggers', 'enable', path, 'off', '--expect', '9')).toMatchObject({ code: 'TRIGGER_CHANGED', kind: 'conflict' })
  expect(await codeOf('processes', 'cancel', path, 'done', '--reason', 'x')).toMatchObject({ code: 'PROCESS_FINISHED', kind: 'conflict' })
})
