// Agent processes at the terminal: where they stand, what they said, who holds them; asked to end, handed out, taken back and forgotten.

import { beforeEach, describe, expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { inStore } from './runs-support.ts'
import { copyForEach, inkHere as ink, inkHereJson as json, lines } from './support.ts'
import { expectRefused, SECRET, storeWithWork, type WorkIds } from './work-support.ts'

const copy = copyForEach((url) => storeWithWork({ url }))
let ids: WorkIds
let path: string

beforeEach(() => {
  path = copy.path
  ids = copy.made
})

const CRAWL = 'crawl/4711'
const rowOf = (name: string) => inStore(path, async (store) => (await store.processes.get(name))?.toJSON())

describe('list', () => {
  test('processes list tells where each process stands, the newest first', async () => {
    const { code, out, err } = await ink(['processes', path, '--all'])
    expect([code, err]).toEqual([0, ''])
    const rows = lines(out)
    expect(rows[0]?.trim().split(/ {2,}/)).toEqual(['process', 'kind', 'state', 'recovery', 'age', 'status'])
    expect(rows[1]).toMatch(/^queued +tool +pending +rerunnable .* not started$/)
    expect(rows[2]).toMatch(/^fails +tool +failed +ownerBound .* Error: it broke$/)
    expect(rows[3]).toMatch(/^done +tool +completed +ownerBound .* \{"found":3\}$/)
    expect(rows[4]).toMatch(/^crawl\/4711 +crawl +waiting +external .* waits for approval \{"id":7\} since .* ago$/)
  })

  test('processes list takes filters, and goes on where it ended', async () => {
    const names = async (...words: readonly string[]) =>
      (await json(['processes', 'list', path, ...words])).items.map(({ name }: { name: string }) => name)
    expect(await names('--state', 'failed')).toEqual(['fails'])
    expect(await names('--kind', 'crawl')).toEqual([CRAWL])
    expect(await names('--session', 'support/4711')).toEqual([CRAWL])
    expect(await names()).toEqual(['queued', CRAWL])
    const { cursor } = await json(['processes', path, '--all', '--last', '3'])
    expect(await names('--all', '--cursor', cursor)).toEqual([CRAWL])
    const live = await json(['processes', path, '--last', '1'])
    expect(await names('--cursor', live.cursor)).toEqual([CRAWL])
    expect((await ink(['processes', path, '--kind', 'crwal'])).err).toBe('No process matches in tenant main.\n')
  })
})

describe('show and events', () => {
  test('processes show tells everything about one, by name or id, with secrets masked', async () => {
    const { out } = await ink(['processes', 'show', path, CRAWL])
    const told = Object.fromEntries(lines(out).map((line) => [line.slice(0, 10).trim(), line.slice(10)]))
    expect(told).toMatchObject({ process: CRAWL, id: ids.crawl, label: 'the crawl', kind: 'crawl', state: 'waiting', recovery: 'external' })
    expect(told).toMatchObject({ by: 'user_ada', external: 'job-91 of elsewhere', holder: 'none', events: 'crawl.noted, page.found' })
    expect(told.waits).toMatch(/^for approval \{"id":7\} since /)
    expect(told.wakes).toMatch(/^support\/4711 \(\S{26}\)$/)
    expect(told.started).toMatch(/ by desk 3$/)
    expect(told.input).toMatch(/^\{"password":"\[redacted:key:\w+\]","url":"https:\/\/example.com"\}$/)
    expect(out).not.toContain(SECRET)
    expect(out).toMatch(/\nhandles\nsession .*\nsupport\/4711 +\S+ \S+ +\S+ +my crawl\n/)
    expect(out).toMatch(/\nall events\nnumber .*\n +1 +\S+ \S+ +page\.found +woke +\{"hostile":"\\u001b/)
    expect((await ink(['processes', 'show', path, ids.crawl])).out).toContain(CRAWL)
    expect((await ink(['processes', 'show', path, 'done'])).out).toMatch(/\nvalue +\{"found":3\}\ncontrol +\{"next":"mail"\}\n/)
    expect((await ink(['processes', 'show', path, 'fails'])).out).toMatch(/\nerror +Error: it broke\n/)
    expect(await json(['processes', 'show', path, CRAWL, '--last', '1'])).toMatchObject({
      process: { name: CRAWL },
      events: [{ type: 'process.waiting' }],
      grants: [{ label: 'my crawl' }],
    })
  })

  test('processes show tells who holds a process, and until when', async () => {
    await using store = await open({ url: path, schedule: false, lease: { owner: 'desk 4' } })
    await using held = await (await store.processes.get(CRAWL))?.claim()
    expect((await ink(['processes', 'show', path, CRAWL])).out).toMatch(
      new RegExp(`\\nholder +desk 4, fence ${held?.fence}, until \\S+ \\S+ \\(in .*\\) unless renewed\\n`),
    )
    expect((await json(['processes', 'show', path, CRAWL])).holder).toMatchObject({ owner: 'desk 4', lapsed: false })
  })

  test('processes events lists what a process said: the newest, or all from a number on', async () => {
    const numbers = ({ items }: { items: readonly { number: number }[] }) => items.map(({ number }) => number)
    expect(numbers(await json(['processes', 'events', path, CRAWL]))).toEqual([1, 2, 3, 4])
    expect(numbers(await json(['processes', 'events', path, CRAWL, '--last', '2']))).toEqual([3, 4])
    const first = await json(['processes', 'events', path, CRAWL, '--after', '1', '--last', '2'])
    expect(numbers(first)).toEqual([2, 3])
    expect(numbers(await json(['processes', 'events', path, CRAWL, '--after', '1', '--cursor', first.cursor]))).toEqual([4])
    expect(numbers(await json(['processes', 'events', path, CRAWL, '--type', 'page.found']))).toEqual([1])
    expect((await ink(['processes', 'events', path, 'queued'])).err).toBe('No event of queued matches.\n')
  })
})

describe('what is asked of it', () => {
  test('cancelling and abandoning are asked for once, and by whom and why is known', async () => {
    const words = ['processes', 'cancel', path, CRAWL, '--reason', `withdrawn password=${SECRET}`, '--actor', 'user_ops']
    expect((await ink(words)).out).toBe(`✓ ${CRAWL} will be cancelled: its handler gets an abort signal and decides when to stop\n`)
    expect((await ink(words)).out).toMatch(/^✓ crawl\/4711 already has a request to be cancelled: withdrawn .*; nothing was written\n$/)
    expect(await rowOf(CRAWL)).toMatchObject({ state: 'waiting', cancel: { by: 'user_ops' } })
    expect(JSON.stringify(await rowOf(CRAWL))).not.toContain(SECRET)
    expect((await ink(['processes', 'show', path, CRAWL])).out).toMatch(/\ncancel +asked for .* ago by user_ops: withdrawn /)
    expect(await json(['processes', 'abandon', path, CRAWL, '--reason', 'lost'])).toMatchObject({
      name: CRAWL,
      state: 'waiting',
      abandon: { reason: 'lost' },
      repeated: false,
    })
    expect((await ink(['processes', path])).out).toMatch(/ since .* ago; to be abandoned: lost$/m)
    expect((await ink(['verify', path])).code).toBe(0)
    expect((await ink(['rebuild', path, '--check'])).code).toBe(0)
  })
})

describe('grant, revoke and prune', () => {
  test('a session gets a handle, and gives it back', async () => {
    const handle = ['done', 'support/4711'] as const
    expect((await ink(['processes', 'grant', path, ...handle, '--label', 'the tool'])).out).toBe(
      '✓ session support/4711 has a handle on done\n',
    )
    expect((await json(['processes', 'show', path, 'done'])).grants).toMatchObject([{ label: 'the tool' }])
    expect(await json(['processes', 'grant', path, ...handle])).toMatchObject({ grant: { name: 'done' } })
    expect((await ink(['processes', 'revoke', path, ...handle])).out).toBe('✓ session support/4711 no longer has a handle on done\n')
    expect((await ink(['processes', 'revoke', path, ...handle])).out).toBe(
      '✓ session support/4711 had no handle on done; nothing was written\n',
    )
  })

  test('processes prune removes processes that ended before a time, and nothing else', async () => {
    expect((await ink(['processes', 'prune', path, '--before', '30d'])).out).toMatch(/^✓ no process that ended before .* UTC; nothing/)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await ink(['processes', 'prune', path, '--before', '0s', '--actor', 'user_ops'])).out).toMatch(
      /^✓ 2 processes that ended before \S+ \S+ UTC removed, with 2 events and 0 handles\n$/,
    )
    expect((await json(['processes', path])).items).toHaveLength(2)
    expect((await ink(['rebuild', path, '--check'])).code).toBe(0)
  })
})

test.each([
  [['STORE', CRAWL], 2, 'write the verb before the store'],
  [['list', 'STORE', '--state', 'asleep'], 2, 'Allowed choices are pending'],
  [['list', 'STORE', '--session', 'support/none'], 3, 'no session support/none'],
  [['show', 'STORE'], 2, 'Missing <process>'],
  [['show', 'STORE', 'crwal'], 3, 'There is no process crwal in tenant main'],
  [['events', 'STORE', 'crwal'], 3, 'There is no process crwal'],
  [['events', 'STORE', CRAWL, '--after', '-1'], 2, '≥ 0'],
  [['events', 'STORE', CRAWL, '--type', 'Not A Type'], 2, 'is not an event type'],
  [['cancel', 'STORE', CRAWL], 2, '--reason'],
  [['cancel', 'STORE', 'crwal', '--reason', 'x'], 3, 'There is no process crwal'],
  [['cancel', 'STORE', 'done', '--reason', 'x'], 5, 'has already ended'],
  [['abandon', 'STORE', 'fails', '--reason', 'x'], 5, 'has already ended'],
  [['grant', 'STORE', CRAWL], 2, 'write it after the process. See what exists with inkfast sessions'],
  [['grant', 'STORE', CRAWL, 'support/none'], 3, 'no session support/none'],
  [['revoke', 'STORE', 'crwal', 'support/4711'], 3, 'There is no process crwal'],
  [['prune', 'STORE'], 2, '--before'],
  [['prune', 'STORE', '--before', 'monday'], 2, 'is not a time'],
  [['prune', 'STORE', 'more', '--before', '1d'], 2, 'Unexpected argument'],
] as const)('processes %j ends with %i and one line', (words, exit, said) =>
  expectRefused(path, ['processes', ...words.map((word) => word.replace('STORE', path))], exit, said),
)
