// Queues at the terminal: how much is in them, what is in one, an item with all there is to say; items are offered, cancelled and redriven.

import { beforeEach, describe, expect, test } from 'vitest'
import { open, type WorkItem } from '../../src/index.ts'
import { inStore, UNKNOWN } from './runs-support.ts'
import { copyForEach, inkHere as ink, inkHereJson as json, lines } from './support.ts'
import { expectRefused, SECRET, storeWithWork, type WorkIds } from './work-support.ts'

const copy = copyForEach((url) => storeWithWork({ url }))
let ids: WorkIds
let path: string

beforeEach(() => {
  path = copy.path
  ids = copy.made
})

const cellsOf = (out: string): string[][] => lines(out).map((line) => line.trim().split(/ {2,}/))
const itemOf = (queue: string, id: string) => inStore(path, (store) => store.queue(queue).get(id))

describe('stats', () => {
  test('queue stats shows each queue that holds something, and how much of it is in which state', async () => {
    const { code, out, err } = await ink(['queue', path])
    expect([code, err]).toEqual([0, ''])
    expect(cellsOf(out)).toEqual([
      ['queue', 'ready', 'delayed', 'claimed', 'dead'],
      ['audit', '0', '2', '0', '0'],
      ['bad', '0', '0', '0', '1'],
      ['digest', '0', '0', '0', '1'],
      ['mail', '0', '0', '0', '1'],
      ['outbox', '1', '1', '1', '0'],
    ])
    expect(new Set(lines(out).map((line) => line.length)).size).toBe(1)
  })

  test('queue stats shows what the store keeps for itself only when asked', async () => {
    const names = async (...words: readonly string[]) =>
      (await json(['queue', 'stats', path, ...words])).queues.map(({ queue }: { queue: string }) => queue)
    expect((await names()).filter((name: string) => name.includes('/'))).toEqual([])
    expect(await names('--all')).toEqual(expect.arrayContaining(['clock/cron', 'processes/tool', 'outbox']))
    expect((await ink(['queue', path, '--all'])).out).toMatch(/ asleep /)
  })
})

describe('list', () => {
  test('queue list tells where each item stands', async () => {
    const { code, out, err } = await ink(['queue', 'list', path, 'outbox'])
    expect([code, err]).toEqual([0, ''])
    const [head, ...rows] = lines(out)
    expect(head?.trim().split(/ {2,}/)).toEqual(['id', 'state', 'tried', 'priority', 'group', 'key', 'age', 'status (UTC)'])
    const line = (id: string) => rows.find((row) => row.startsWith(id))
    expect(line(ids.ready)).toMatch(/ ready +0 of 5 .* due now$/)
    expect(line(ids.delayed)).toMatch(/ delayed +0 of 3 +5 +bob +welcome\/bob .* due \d{4}-\S+ \S+ \(in 1 h\)$/)
    expect(line(ids.held)).toMatch(/ claimed +1 of 5 +9 .* held by desk 3 until \S+ \S+ \(in 59 min\)$/)
    const dead = await ink(['queue', 'list', path, 'bad', '--state', 'dead'])
    expect(dead.out).toMatch(/ dead +1 of 1 .* died .* ago: Error: no such mailbox \\u001b.* …\n( +at .*work-support\.ts.*\n)+$/)
    expect(await ink(['queue', 'list', path, 'outbox', '--state', 'dead'])).toEqual({
      code: 0,
      out: '',
      err: 'Queue outbox of tenant main has no dead items.\n',
    })
  })

  test('queue list goes on where it ended', async () => {
    const first = await ink(['queue', 'list', path, 'outbox', '--last', '2'])
    const cursor = /More: add --cursor '(.*)'\n/.exec(first.err)?.[1] as string
    const rest = await json(['queue', 'list', path, 'outbox', '--cursor', cursor])
    const seen = [...cellsOf(first.out).slice(1), ...rest.items.map(({ id }: WorkItem) => [id])].map(([id]) => id)
    expect(seen.sort()).toEqual([ids.ready, ids.delayed, ids.held].sort())
    expect(rest.cursor).toBeUndefined()
  })

  test('a queue that holds nothing is told apart from a slip of the pen', async () => {
    expect((await ink(['queue', 'list', path, 'outbx'])).err).toBe(
      'Queue outbx of tenant main is empty; not empty: audit, bad, digest, mail, outbox.\n',
    )
  })
})

describe('show', () => {
  test('queue show tells everything about an item, with its secrets masked and nothing that drives a terminal', async () => {
    const { out } = await ink(['queue', 'show', path, 'outbox', ids.ready])
    expect(out).toMatch(/^id {8}\S+\nqueue {5}outbox\nstate {5}ready\ntried {5}0 of 5, backoff 1s\noffered {3}.* ago\)\ndue /)
    expect(out).toMatch(/\npayload {3}\{.*"password":"\[redacted:key:\w+\]","to":"ada"\}\n$/)
    expect(out).not.toContain(SECRET)
    expect(out).toContain('\\u001b]0;owned\\u0007\\u009b31m\\u202e')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(out.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u0080-\u009f\u202e]/)
    expect((await ink(['queue', 'show', path, 'outbox', ids.delayed])).out).toMatch(/\ngroup +bob\n.*\ndue +\S+ \S+ UTC \(in 1 h\)\n/)
  })

  test('queue show tells why one died, and spreads a large payload out on a terminal', async () => {
    const { out } = await ink(['queue', 'show', path, 'bad', ids.dead], 80)
    expect(out).toMatch(/\nstate +dead\ntried +1 of 1\n/)
    expect(out).toMatch(
      /\ndied +.* ago\)\nerror +Error: no such mailbox .*\n( +at .*\n)+details +\{"code":550\}\npayload\n {2}\{\n {4}"lines": \[\n/,
    )
    expect(out).toMatch(/\n {2}… and \d+ more lines; --json prints all\n$/)
    expect((await json(['queue', 'show', path, 'bad', ids.dead])).item.payload.lines).toHaveLength(20)
  })

  test('queue show tells who holds one and until when, renewals included, and that whoever held it let go', async () => {
    await using store = await open({ url: path, schedule: false, lease: { owner: 'desk 4' } })
    const queue = store.queue('work')
    const { id } = await queue.offer(1)
    const claim = await queue.claim({ lease: '1h' })
    await claim?.renew('3h')
    expect((await ink(['queue', 'show', path, 'work', id])).out).toMatch(
      new RegExp(`\\nholder +desk 4, fence ${claim?.fence}, until \\S+ \\S+ \\(in 2 h\\) unless renewed\\n`),
    )
    expect((await json(['queue', 'show', path, 'work', id])).holder).toMatchObject({ owner: 'desk 4', lapsed: false })
    await claim?.release()
    await queue.claim({ lease: 1 })
    await expect.poll(async () => (await queue.holder(id))?.lapsed).toBe(true)
    expect((await ink(['queue', 'show', path, 'work', id])).out).toContain('is gone or its lease expired; the next worker takes it up')
    expect((await ink(['queue', 'list', path, 'work'])).out).toContain('abandoned by desk 4; the next worker takes it up')
    await (await queue.claim())?.complete()
    expect(await queue.holder(id)).toBeUndefined()
  })
})

describe('offer', () => {
  test('queue offer puts an item in, once for each key, on behalf of somebody', async () => {
    const words = ['queue', 'offer', path, 'outbox', '{"to":"cy"}', '--key', 'welcome/cy', '--delay', '2h', '--group', 'cy']
    const { code, out } = await ink([...words, '--priority', '-3', '--attempts', '2', '--backoff', '5s', '--actor', 'user_ops'])
    expect(code).toBe(0)
    const id = /^✓ (\S{26}) is in queue outbox, due \S+ \S+ UTC \(in 1 h\)\n$/.exec(out)?.[1] as string
    expect(await itemOf('outbox', id)).toMatchObject({
      payload: { to: 'cy' },
      key: 'welcome/cy',
      group: 'cy',
      priority: -3,
      attempts: 2,
      backoff: { firstMs: 5000 },
    })
    expect((await ink(words)).out).toBe(`✓ ${id} is already in queue outbox with this key; nothing was written\n`)
    expect(await ink(['queue', 'offer', path, 'outbox', '{"to":"di"}', '--key', 'welcome/cy'])).toMatchObject({ code: 5, out: '' })
    const [event] = lines((await ink(['events', path, '--last', '1', '--json'])).out).map((line) => JSON.parse(line))
    expect(event).toMatchObject({ type: 'work.offered', actor: 'user_ops' })
    expect((await ink(['queue', 'offer', path, 'new', '"now"'])).out).toMatch(/ due now; a worker takes it up\n$/)
  })

  test('queue offer masks secrets, and tells the item as JSON', async () => {
    const { item } = await json(['queue', 'offer', path, 'outbox', `{"password":"${SECRET}"}`])
    expect(item).toMatchObject({ queue: 'outbox', state: 'ready', repeated: false })
    expect(JSON.stringify(await itemOf('outbox', item.id))).not.toContain(SECRET)
  })
})

describe('cancel and redrive', () => {
  test('an item is taken out, whoever holds it has lost it, and the journal says why', async () => {
    const words = ['queue', 'cancel', path, 'outbox', ids.held]
    expect((await ink([...words, '--reason', 'withdrawn', '--actor', 'user_ops'])).out).toBe(
      `✓ ${ids.held} is removed from queue outbox; its worker lost the claim\n`,
    )
    expect(await itemOf('outbox', ids.held)).toBeUndefined()
    const { out } = await ink(['events', path, '--type', 'work.cancelled', '--json'])
    expect(JSON.parse(out)).toMatchObject({ actor: 'user_ops', data: { reason: 'withdrawn' } })
    expect(await ink(['queue', 'cancel', path, 'outbox', ids.ready, '--reason', ' '])).toMatchObject({ code: 2, out: '' })
    expect(await ink([...words, '--reason', 'again'])).toMatchObject({ code: 3, err: expect.stringContaining('completed or cancelled') })
    expect(await json(['queue', 'cancel', path, 'outbox', ids.ready, '--reason', 'x'])).toEqual({
      item: ids.ready,
      queue: 'outbox',
      state: 'cancelled',
    })
  })

  test('dead items are offered anew: one, or all of them', async () => {
    expect(await json(['queue', 'redrive', path, 'bad', ids.dead])).toEqual({ queue: 'bad', redriven: [ids.dead] })
    expect(await itemOf('bad', ids.dead)).toMatchObject({ state: 'ready', attempt: 0 })
    expect(await ink(['queue', 'redrive', path, 'bad', ids.dead])).toMatchObject({ code: 5, err: expect.stringContaining('is ready') })
    expect(await ink(['queue', 'redrive', path, 'mail', ids.dead, '--most', '1'])).toMatchObject({ code: 2, out: '' })
    expect((await ink(['queue', 'redrive', path, 'mail', '--most', '1'])).out).toBe(
      '✓ 1 dead item of queue mail ready again, with all attempts\n',
    )
    expect((await ink(['queue', 'redrive', path, 'mail'])).out).toBe('✓ queue mail has no dead items; nothing was written\n')
    expect((await ink(['verify', path])).code).toBe(0)
    expect((await ink(['rebuild', path, '--check'])).code).toBe(0)
  })
})

test.each([
  [['list', 'STORE'], 2, 'Missing <queue>'],
  [['list', 'STORE', 'outbox', '--state', 'asleep'], 2, 'Allowed choices are ready, claimed, dead'],
  [['list', 'STORE', 'outbox', '--last', '0'], 2, 'from 1 to 1000'],
  [['list', 'STORE', 'outbox', '--cursor', 'x'], 2, 'cursor'],
  [['list', 'STORE', 'outbox', '--tenant', 'acme'], 3, 'no tenant acme'],
  [['list', 'STORE', 'runs/greet'], 2, 'runs/greet is internal'],
  [['list', 'STORE.not', 'outbox'], 3, 'There is no store'],
  [['STORE', 'outbox'], 2, 'write the verb before the store'],
  [['show', 'STORE', 'outbox'], 2, 'write it after the queue. See what exists with inkfast queue list'],
  [['show', 'STORE', 'outbox', 'x'], 2, 'is not an id'],
  [['show', 'STORE', 'outbox', UNKNOWN], 3, 'There is no item'],
  [['show', 'STORE', 'bad', 'READY'], 3, 'in queue bad'],
  [['show', 'STORE', 'outbox', UNKNOWN, 'more'], 2, 'Unexpected argument'],
  [['offer', 'STORE', 'outbox'], 2, 'Missing <payload>: write it after the queue.'],
  [['offer', 'STORE', 'outbox', '{oops'], 2, 'is not JSON'],
  [['offer', 'STORE', 'clock/cron', '1'], 2, 'clock/cron is internal'],
  [['offer', 'STORE', 'outbox', '1', '--delay', '-5m'], 2, "'-5m' is not a duration"],
  [['offer', 'STORE', 'outbox', '1', '--delay', 'soon'], 2, 'is not a duration'],
  [['offer', 'STORE', 'outbox', '1', '--attempts', '0'], 2, '≥ 1'],
  [['offer', 'STORE', 'outbox', '1', '--priority', 'high'], 2, 'Expected an integer'],
  [['offer', 'STORE', 'outbox', '1', '--actor', 'a person'], 2, 'opaque id'],
  [['cancel', 'STORE', 'outbox', 'READY'], 2, '--reason'],
  [['cancel', 'STORE', 'outbox', UNKNOWN, '--reason', 'x'], 3, 'There is no item'],
  [['redrive', 'STORE'], 2, 'Missing <queue>'],
  [['redrive', 'STORE', 'outbox', '--most', '0'], 2, '≥ 1'],
  [['redrive', 'STORE', 'outbox', 'READY'], 5, 'only dead items can be redriven'],
  [['redrive', 'STORE', 'outbox', UNKNOWN], 3, 'There is no item'],
] as const)('queue %j ends with %i and one line', (words, exit, said) =>
  expectRefused(path, ['queue', ...words.map((word) => word.replace('STORE', path).replace('READY', ids.ready))], exit, said),
)
