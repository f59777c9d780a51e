// Jobs at the terminal: when they come up and what came of it; they are set, paused, resumed, run, backfilled and deleted, by nobody but nodes worked on.

import { beforeEach, describe, expect, test, vi } from 'vitest'
import { scheduleText, wallClock } from '../../src/cli/work/job-text.ts'
import { duration } from '../../src/cli/work/text.ts'
import { open } from '../../src/index.ts'
import { digestOf, inStore } from './runs-support.ts'
import { copyForEach, inkHere as ink, inkHereJson as json, lines } from './support.ts'
import { expectRefused, SECRET, storeWithWork } from './work-support.ts'

const copy = copyForEach((url) => storeWithWork({ url }))
let path: string

beforeEach(() => {
  path = copy.path
})

const jobOf = (name: string) => inStore(path, (store) => store.cron.get(name))

/** What came of the times of a job, the latest first. */
const outcomesOf = async (name: string): Promise<readonly string[]> =>
  (await json(['cron', 'show', path, name])).occurrences.items.map(
    ({ cause, state }: { cause: string; state: string }) => `${cause} ${state}`,
  )

describe('list', () => {
  test('cron list tells when each job comes up next, and what came of the last time', async () => {
    const { code, out, err } = await ink(['cron', path])
    expect([code, err]).toEqual([0, ''])
    const [head, ...rows] = lines(out)
    expect(head?.trim().split(/ {2,}/)).toEqual(['job', 'schedule', 'state', 'next (UTC)', 'last'])
    expect(rows[0]).toMatch(/^launch +once, 2030-01-01 09:00:00 UTC +active +2030-01-01 09:00:00 \(in \d+ d\) +none yet$/)
    expect(rows[1]).toMatch(/^poll +every 1h after the last one ends +active +\S+ \S+ \(in \d+ min\) +none yet$/)
    expect(rows[2]).toMatch(
      /^digest +0 9 \* \* 1-5 Europe\/Paris +paused +paused +paused: holidays \\u001b.*; failed .* ago: Error: the printer is out of ink$/,
    )
  })

  test('cron list takes a state, goes on where it ended, and tells the last time as JSON', async () => {
    expect((await json(['cron', 'list', path, '--state', 'paused'])).items).toMatchObject([{ name: 'digest', last: { state: 'failed' } }])
    const { items, cursor } = await json(['cron', path, '--last', '2'])
    expect(items.map(({ name }: { name: string }) => name)).toEqual(['launch', 'poll'])
    expect((await json(['cron', 'list', path, '--cursor', cursor])).items).toMatchObject([{ name: 'digest' }])
    expect((await ink(['cron', path, '--state', 'over'])).err).toBe('No job is over in tenant main.\n')
  })

  test('cron list says where something has been due for a while and nobody looks at the clock', async () => {
    await ink(['cron', 'set', path, 'late', '--at', '2020-01-01', '--queue', 'late'])
    const { out, err } = await ink(['cron', path])
    expect(out).toMatch(/^late +once, 2020-01-01 00:00:00 UTC +active +2020-01-01 00:00:00 \(\d+ d ago\) +none yet$/m)
    expect(err).toBe('')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
    try {
      for (const words of [[path], ['show', path, 'late']]) expect((await ink(['cron', ...words])).err).toMatch(/^An occurrence is overdue/)
      expect((await ink(['cron', 'show', path, 'digest'])).err).toBe('')
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('show', () => {
  test('cron show tells the definition, the next five times by both clocks, and what came of the last', async () => {
    const { out } = await ink(['cron', 'show', path, 'digest'])
    const told = Object.fromEntries(lines(out).map((line) => [line.slice(0, 10).trim(), line.slice(10)]))
    expect(told).toMatchObject({ job: 'digest', state: 'paused', schedule: '0 9 * * 1-5 Europe/Paris', overlap: 'queueOne' })
    expect(told).toMatchObject({ missed: 'once', jitter: 'up to 30s', queue: 'digest', attempts: '5, backoff 1s' })
    expect(told.why).toContain('holidays \\u001b')
    expect(told.payload).toMatch(/^\{"password":"\[redacted:key:\w+\]","to":"all"\}$/)
    expect(out).not.toContain(SECRET)
    expect(out).toMatch(/\noccurrences after a resume\ntime \(UTC\) .* Europe\/Paris\n/)
    const times = lines(out).filter((line) => /^\S+ 0[78]:00:00 +in .* (Mon|Tue|Wed|Thu|Fri) \S+ 09:00:00$/.test(line))
    expect(times).toHaveLength(5)
    expect(out).toMatch(
      /\nlast occurrences\nfor \(UTC\) +outcome +started +finished +by +why\n\S+ \S+ +failed +\S+ \S+ +\S+ \S+ +hand +Error: the printer is out of ink\n\S+ \S+ +done +\S+ \S+ +\S+ \S+ +hand\n$/,
    )
  })

  test('cron show goes on into the past, and tells the same as JSON', async () => {
    const first = await json(['cron', 'show', path, 'digest', '--last', '1'])
    expect(first).toMatchObject({ job: { name: 'digest' }, occurrences: { items: [{ state: 'failed', cause: 'hand' }] } })
    expect(first.next).toHaveLength(5)
    const { occurrences } = await json(['cron', 'show', path, 'digest', '--cursor', first.occurrences.cursor])
    expect(occurrences.items).toMatchObject([{ state: 'done' }])
    expect((await ink(['cron', 'show', path, 'digest', '--last', '1'])).err).toMatch(/^Earlier ones: add --cursor '.*'\n$/)
  })

  test('cron show tells how an interval is counted, and when it would pause itself', async () => {
    const { out } = await ink(['cron', 'show', path, 'poll'])
    expect(out).toMatch(/\nschedule +every 1h after the last one ends\n/)
    expect(out).toMatch(/\nmissed +all, up to 1d late\n/)
    expect(out).toMatch(/\nfailures +0 in a row; paused by itself after 3\n/)
  })
})

describe('set', () => {
  test('cron set makes a job, changes it, and writes nothing where it is so already', async () => {
    const words = ['cron', 'set', path, 'report', '--cron', '30 2 * * *', '--zone', 'America/New_York', '--queue', 'reports']
    const more = ['--payload', '{"kind":"daily"}', '--overlap', 'allow', '--missed', 'all', '--catch-up', '2h', '--jitter', '1m']
    const rest = ['--pause-after', '2', '--priority', '4', '--group', 'g', '--attempts', '2', '--backoff', '10s', '--actor', 'user_ops']
    const { code, out } = await ink([...words, ...more, ...rest])
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^✓ report is scheduled 30 2 \* \* \* America\/New_York, next \S+ \S+ \(in .*\)\n$/),
    ])
    expect(await jobOf('report')).toMatchObject({
      schedule: { kind: 'cron', cron: '30 2 * * *', zone: 'America/New_York' },
      policy: { overlap: 'allow', missed: 'all', catchUp: 7_200_000, jitter: 60_000 },
      queue: 'reports',
      payload: { value: { kind: 'daily' } },
      offer: { priority: 4, group: 'g', attempts: 2, backoff: { firstMs: 10_000 } },
      pauseAfter: 2,
    })
    const before = digestOf(path)
    expect((await ink([...words, ...more, ...rest])).out).toBe('✓ report is unchanged; nothing was written\n')
    expect(digestOf(path)).toBe(before)
    expect(await json([...words])).toMatchObject({ changed: true, job: { policy: { overlap: 'forbid' }, failures: 0 } })
    const set = lines((await ink(['events', path, '--type', 'job.set', '--json'])).out).map((line) => JSON.parse(line))
    expect(set.slice(-2)).toMatchObject([{ actor: 'user_ops' }, { data: { name: 'report' } }])
  })

  test('cron set takes an interval, with what it is counted from, or one time', async () => {
    await ink(['cron', 'set', path, 'a', '--every', '90s', '--from', 'finish', '--queue', 'a'])
    await ink(['cron', 'set', path, 'b', '--every', '2h', '--anchor', '2026-01-31T09:00:00+01:00', '--queue', 'a'])
    await ink(['cron', 'set', path, 'c', '--at', '2031-05-06', '--queue', 'a'])
    expect(await jobOf('a')).toMatchObject({ schedule: { every: 90_000, from: 'finish' } })
    expect(await jobOf('b')).toMatchObject({ schedule: { every: 7_200_000, anchor: Date.UTC(2026, 0, 31, 8) } })
    expect(await jobOf('c')).toMatchObject({ schedule: { at: Date.UTC(2031, 4, 6) } })
  })
})

describe('pause, resume, run, backfill and delete', () => {
  test('cron pause, resume, run, backfill and delete do what they say, once', async () => {
    expect((await ink(['cron', 'pause', path, 'poll', '--reason', 'too loud'])).out).toBe(
      '✓ poll is paused; a running occurrence finishes\n',
    )
    expect((await ink(['cron', 'pause', path, 'poll', '--reason', 'again'])).out).toBe('✓ poll was already paused; nothing was written\n')
    expect(await jobOf('poll')).toMatchObject({ state: 'paused', reason: 'too loud' })
    expect(await json(['cron', 'resume', path, 'poll'])).toMatchObject({
      job: 'poll',
      state: 'active',
      changed: true,
      next: expect.any(Number),
    })
    expect((await ink(['cron', 'resume', path, 'digest'])).out).toMatch(/^✓ digest is active, next \S+ 0[78]:00:00 \(in .*\)\n$/)
    expect((await ink(['cron', 'delete', path, 'poll'])).out).toContain('✓ poll is deleted')
    expect(await ink(['cron', 'delete', path, 'poll'])).toMatchObject({ code: 3, err: expect.stringContaining('no job poll') })
    expect(await json(['cron', 'delete', path, 'launch'])).toEqual({ job: 'launch', deleted: true })
    expect((await ink(['verify', path])).code).toBe(0)
    expect((await ink(['rebuild', path, '--check'])).code).toBe(0)
  })

  test('cron prune forgets what came of times that finished before a time', async () => {
    expect((await ink(['cron', 'prune', path, '--before', '30d'])).out).toMatch(
      /^✓ no occurrence that finished before .*; nothing was written\n$/,
    )
    expect((await ink(['cron', 'prune', path, '--before', '0s'])).out).toMatch(/^✓ 1 occurrence that finished before .* UTC removed\n$/)
    // The item of this one is dead: it may be redriven.
    expect(await outcomesOf('digest')).toEqual(['hand failed'])
    expect(await json(['cron', 'prune', path, '--before', '0s'])).toEqual({ before: expect.any(Number), forgotten: 0 })
    expect((await ink(['rebuild', path, '--check'])).code).toBe(0)
  })

  test('cron run and backfill offer one more, and all of a period, once, and somebody else takes them up', async () => {
    expect((await ink(['cron', 'run', path, 'digest'])).out).toBe(
      '✓ one more occurrence of digest is in queue digest; a worker takes it up\n',
    )
    expect(await outcomesOf('digest')).toEqual(['hand waiting', 'hand failed', 'hand done'])
    const words = ['cron', 'backfill', path, 'digest', '--from', '2026-01-05', '--to', '2026-01-10']
    expect((await ink(words)).out).toBe('✓ 5 occurrences of digest offered to queue digest\n')
    expect((await ink(words)).out).toBe('✓ no occurrence was left to offer; 5 occurrences already offered; nothing was written\n')
    expect(await json(['cron', 'backfill', path, 'digest', '--from', '2026-01-05', '--to', '2026-01-13'])).toEqual({
      job: 'digest',
      queue: 'digest',
      offered: 1,
      known: 5,
    })
    expect(await json(['cron', 'run', path, 'digest'])).toMatchObject({ job: 'digest', occurrence: { cause: 'hand', state: 'waiting' } })
  })

  test('no command of cron starts what is due by the clock, which any node does', async () => {
    await ink(['cron', 'set', path, 'overdue', '--at', '2020-01-01T00:00:00Z', '--queue', 'overdue'])
    await ink(['cron', 'run', path, 'digest'])
    await ink(['cron', 'resume', path, 'digest'])
    await ink(['queue', 'offer', path, 'outbox', '1'])
    await ink(['cron', 'show', path, 'overdue'])
    expect(await outcomesOf('overdue')).toEqual([])
    await using node = await open(path)
    await node.queue('nothing').claim()
    await expect.poll(async () => (await node.cron.occurrences('overdue')).items.length).toBe(1)
  })

  test('cron pause of a job that is over says that there is nothing to pause', async () => {
    await using node = await open(path)
    await node.cron.set('once', { at: Date.now() - 1000, queue: 'once' })
    await expect.poll(async () => (await node.cron.get('once'))?.state).toBe('over')
    expect((await ink(['cron', 'pause', path, 'once', '--reason', 'x'])).out).toMatch(/^! once is over and has no further occurrences/)
    expect((await ink(['cron', path])).out).toMatch(/^once .* over +none/m)
  })
})

test('schedules read as somebody wrote them', () => {
  expect([1, 1000, 90_000, 900_000, 7_200_000, 86_400_000, 90_061_000].map(duration)).toEqual([
    '1ms',
    '1s',
    '90s',
    '15m',
    '2h',
    '1d',
    '90061s',
  ])
  expect(scheduleText({ kind: 'every', every: 60_000, from: 'start', anchor: 0 })).toBe('every 1m')
  expect(scheduleText({ kind: 'every', every: 60_000, from: 'start', anchor: 1000 })).toBe('every 1m, first 1970-01-01 00:00:01 UTC')
  expect([0, Date.UTC(2026, 2, 29, 1)].map(wallClock('Europe/Paris'))).toEqual(['Thu 1970-01-01 01:00:00', 'Sun 2026-03-29 03:00:00'])
})

test.each([
  [['STORE', 'digest'], 2, 'write the verb before the store'],
  [['list', 'STORE', '--state', 'asleep'], 2, 'Allowed choices are active, paused, over'],
  [['show', 'STORE'], 2, 'Missing <job>'],
  [['show', 'STORE', 'digst'], 3, 'There is no job digst in tenant main. See what is there with inkfast cron.'],
  [['set', 'STORE', 'new', '--every', '1h'], 2, '--queue'],
  [['set', 'STORE', 'new', '--queue', 'x'], 2, "got none. Nothing was written. Give --cron '0 9 * * 1-5'"],
  [['set', 'STORE', 'new', '--queue', 'x', '--cron', '0 0 31 2 *'], 2, 'no such day'],
  [['set', 'STORE', 'new', '--queue', 'x', '--cron', '0 9 * * *', '--every', '1h'], 2, 'exactly one of'],
  [['set', 'STORE', 'new', '--queue', 'x', '--cron', '0 9 * * *', '--zone', 'Mars/Base'], 2, 'does not know the time zone'],
  [['set', 'STORE', 'new', '--queue', 'x', '--every', '0s'], 2, 'at least 1000 ms'],
  [['set', 'STORE', 'new', '--queue', 'x', '--every', '1h', '--from', 'noon'], 2, 'Allowed choices are start, finish'],
  [['set', 'STORE', 'new', '--queue', 'x', '--every', '1h', '--overlap', 'maybe'], 2, "got 'maybe'"],
  [['set', 'STORE', 'new', '--queue', 'x', '--every', '1h', '--payload', '{oops'], 2, '--payload is not JSON'],
  [['set', 'STORE', 'new', '--queue', 'runs/x', '--every', '1h'], 2, 'is internal'],
  [['set', 'STORE', 'new', '--queue', 'x', '--at', '2026-02-30'], 2, "--at '2026-02-30' is not a time"],
  [['set', 'STORE', 'new', '--queue', 'x', '--at', '2026-02-03T09:00'], 2, 'is not a time'],
  [['pause', 'STORE', 'digest'], 2, '--reason'],
  [['pause', 'STORE', 'digst', '--reason', 'x'], 3, 'no job digst'],
  [['run', 'STORE', 'digst'], 3, 'no job digst'],
  [['backfill', 'STORE', 'digest', '--from', '2h'], 2, 'Missing --from or --to'],
  [['backfill', 'STORE', 'digest', '--from', 'monday', '--to', '0s'], 2, "--from 'monday' is not a time"],
  [['backfill', 'STORE', 'digest', '--from', '1h', '--to', '2h'], 2, 'must not be before'],
  [['backfill', 'STORE', 'digest', '--from', '1970-01-01', '--to', '0s'], 5, 'Ask for a shorter period'],
  [['delete', 'STORE', 'digest', 'now'], 2, 'Unexpected argument'],
  [['prune', 'STORE'], 2, '--before'],
] as const)('cron %j ends with %i and one line', (words, exit, said) =>
  expectRefused(path, ['cron', ...words.map((word) => word.replace('STORE', path))], exit, said),
)
