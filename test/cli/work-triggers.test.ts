// Triggers at the terminal: what they are for, what fired, and what became of each delivery; sources are fired, triggers switched off and on.

import { beforeEach, describe, expect, test } from 'vitest'
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
const namesOf = ({ items }: { items: readonly { name: string }[] }): readonly string[] => items.map(({ name }) => name)

describe('list', () => {
  test('triggers list shows what each listens to and what it is for, the newest first', async () => {
    const { code, out, err } = await ink(['triggers', path])
    expect([code, err]).toEqual([0, ''])
    expect(cellsOf(out)).toEqual([
      ['trigger', 'source', 'queue', 'state', 'revision', 'for'],
      ['gone', 'orders', 'audit', 'deleted', '2', 'everything'],
      ['off', 'orders', 'audit', 'disabled', '2', 'everything'],
      ['audit', 'orders', 'audit', 'enabled', '1', 'everything'],
      ['mail', 'orders', 'mail', 'enabled', '1', '{"state":"paid"}'],
    ])
  })

  test('triggers list takes filters, and goes on where it ended', async () => {
    expect(namesOf(await json(['triggers', 'list', path, '--state', 'enabled']))).toEqual(['audit', 'mail'])
    expect(namesOf(await json(['triggers', 'list', path, '--source', 'orders', '--state', 'disabled']))).toEqual(['off'])
    expect((await ink(['triggers', path, '--source', 'ordres'])).err).toBe('No trigger matches in tenant main.\n')
    const { cursor } = await json(['triggers', path, '--last', '3'])
    expect(namesOf(await json(['triggers', path, '--cursor', cursor]))).toEqual(['mail'])
  })
})

describe('show, history and firing', () => {
  test('triggers show tells one trigger with what fired for it, and what became of it', async () => {
    const { out } = await ink(['triggers', 'show', path, 'mail'])
    expect(out).toMatch(/^trigger {3}mail\nid .*\nstate {5}enabled\nrevision {2}1\nsource {4}orders\nqueue {5}mail\nattempts {2}1\n/)
    expect(out).toMatch(/\nfor +\{"state":"paid"\}\n/)
    expect(out).toMatch(new RegExp(`\\nfirings\\nfiring .*\\n${ids.firing} .* orders +order/1/paid +dead \\(Error: smtp said no\\)\\n$`))
    expect((await ink(['triggers', 'show', path, 'audit'])).out).toMatch(/\ndelay +5m\n[\s\S]*\nwith +\{"to":"ledger"\}\n/)
    expect(await json(['triggers', 'show', path, 'audit', '--last', '1'])).toMatchObject({
      trigger: { name: 'audit' },
      firings: { items: [{ source: 'orders', deliveries: [{ trigger: 'audit', state: 'reserved' }] }], cursor: expect.any(String) },
    })
    expect((await ink(['triggers', 'show', path, 'off'])).err).toBe('It has no firings yet.\n')
  })

  test('firings are listed with and without matching triggers', async () => {
    const { out } = await ink(['triggers', 'history', path])
    expect(cellsOf(out).map((cells) => cells.at(-1))).toEqual([
      'deliveries',
      'no match',
      'audit reserved',
      'mail dead (Error: smtp said no), audit reserved',
    ])
    expect((await json(['triggers', 'history', path, '--source', 'returns'])).items).toHaveLength(1)
    expect((await json(['triggers', 'history', path, '--trigger', 'gone'])).items).toEqual([])
  })

  test('a firing is shown with its payload and the item of each delivery, its secrets masked', async () => {
    const { out } = await ink(['triggers', 'firing', path, ids.firing])
    expect(out).toMatch(/\npayload +\{"order":1,"password":"\[redacted:key:\w+\]","state":"paid"\}\n/)
    expect(out).not.toContain(SECRET)
    expect(out).toMatch(/\ndeliveries\ntrigger .*\nmail +dead +1 .* Error: smtp said no\naudit +reserved +0 /)
    const { firing } = await json(['triggers', 'firing', path, ids.firing])
    expect((await ink(['queue', 'show', path, 'mail', firing.deliveries[0].item])).out).toMatch(/\nfrom +a delivery of a trigger, /)
    const [, latest] = (await json(['triggers', 'history', path])).items
    expect((await ink(['triggers', 'firing', path, latest.id])).out).toContain('\\u001b]0;owned\\u0007\\u009b31m\\u202e')
  })
})

describe('fire', () => {
  test('triggers fire tells everybody who is for it, once for each key, and says where nobody is', async () => {
    const words = ['triggers', 'fire', path, 'orders', `{"state":"paid","password":"${SECRET}"}`, '--key', 'order/2/paid']
    const { code, out } = await ink([...words, '--actor', 'user_ops'])
    expect([code, out]).toEqual([0, expect.stringMatching(/^✓ \S{26} is recorded for 2 triggers \(mail, audit\); /)])
    expect((await ink(words)).out).toMatch(/^✓ \S{26} was already fired with this key; nothing was written\n$/)
    const [fired] = lines((await ink(['events', path, '--type', 'trigger.fired', '--last', '1', '--json'])).out)
    expect(JSON.parse(fired as string)).toMatchObject({ actor: 'user_ops' })
    expect(fired).not.toContain(SECRET)
    expect((await ink(['triggers', 'fire', path, 'nobody', '1'])).out).toMatch(
      /^! \S{26} is recorded, but matches no enabled trigger of nobody/,
    )
    expect(await json(['triggers', 'fire', path, 'orders', '{"state":"open"}'])).toMatchObject({
      repeated: false,
      deliveries: [{ trigger: 'audit', revision: 1 }],
    })
  })
})

describe('disable, enable and delete', () => {
  test('triggers disable, enable and delete do what they say, once, and only to the revision that was meant', async () => {
    const stateOf = (name: string) => inStore(path, async (store) => (await store.triggers.get(name))?.state)
    expect((await ink(['triggers', 'disable', path, 'mail'])).out).toMatch(/^✓ mail is disabled \(revision 2\): it gets no new deliveries/)
    expect((await ink(['triggers', 'disable', path, 'mail'])).out).toBe('✓ mail was already disabled; nothing was written\n')
    expect(await ink(['triggers', 'enable', path, 'mail', '--expect', '1'])).toMatchObject({
      code: 5,
      err: expect.stringContaining('revision 2'),
    })
    expect(await stateOf('mail')).toBe('disabled')
    expect(await json(['triggers', 'enable', path, 'mail', '--expect', '2'])).toEqual({
      trigger: 'mail',
      state: 'enabled',
      revision: 3,
      changed: true,
    })
    expect((await ink(['triggers', 'delete', path, 'mail', '--actor', 'user_ops'])).out).toContain('✓ mail is deleted (revision 4)')
    expect(await stateOf('mail')).toBeUndefined()
    expect((await json(['triggers', 'history', path, '--trigger', 'mail'])).items).toHaveLength(1)
    expect((await ink(['verify', path])).code).toBe(0)
    expect((await ink(['rebuild', path, '--check'])).code).toBe(0)
  })
})

test('prune forgets what was dealt with before a time, once, and says with what', async () => {
  expect((await ink(['triggers', 'prune', path, '--before', '30d'])).out).toMatch(
    /^✓ no firing that was settled before .* UTC; nothing was written\n$/,
  )
  await inStore(path, (store) => store.triggers.fire('nobody/listens', { state: 'over' }))
  const before = (await json(['triggers', 'history', path])).items.length
  expect((await ink(['triggers', 'prune', path, '--before', '0s', '--actor', 'user_ops'])).out).toMatch(
    /^✓ \d firings? that (was|were) settled before .* UTC removed, with \d deliver(y|ies)\n$/,
  )
  expect((await json(['triggers', 'history', path])).items.length).toBeLessThan(before)
  expect(await json(['triggers', 'prune', path, '--before', '0s'])).toEqual({ before: expect.any(Number), firings: 0, deliveries: 0 })
  expect((await ink(['rebuild', path, '--check'])).code).toBe(0)
})

test.each([
  [['STORE', 'mail'], 2, 'write the verb before the store'],
  [['prune', 'STORE'], 2, '--before'],
  [['prune', 'STORE', '--before', 'monday'], 2, 'is not a time'],
  [['list', 'STORE', '--state', 'asleep'], 2, 'Allowed choices are enabled, disabled, deleted'],
  [['list', 'STORE', '--cursor', 'x'], 2, 'cursor'],
  [['show', 'STORE'], 2, 'Missing <trigger>'],
  [['show', 'STORE', 'mial'], 3, 'There is no trigger mial in tenant main'],
  [['show', 'STORE', 'gone'], 3, 'There is no trigger gone'],
  [['history', 'STORE', '--trigger', 'mail', '--source', 'orders'], 2, 'trigger or source, not both'],
  [['history', 'STORE', '--trigger', 'mial'], 3, "no trigger 'mial'"],
  [['firing', 'STORE'], 2, 'Missing <firing>'],
  [['firing', 'STORE', 'x'], 2, 'is not an id'],
  [['firing', 'STORE', UNKNOWN], 3, 'There is no firing'],
  [['fire', 'STORE'], 2, 'Missing <source>'],
  [['fire', 'STORE', 'orders'], 2, 'Missing <payload>'],
  [['fire', 'STORE', 'orders', '{oops'], 2, 'is not JSON'],
  [['fire', 'STORE', 'orders', '{"state":"other"}', '--key', 'order/1/paid'], 5, 'Use a new key'],
  [['disable', 'STORE', 'mial'], 3, 'There is no trigger mial'],
  [['disable', 'STORE', 'mail', '--expect', '9'], 5, 'you expected 9'],
  [['delete', 'STORE', 'gone'], 3, 'There is no trigger gone'],
] as const)('triggers %j ends with %i and one line', (words, exit, said) =>
  expectRefused(path, ['triggers', ...words.map((word) => word.replace('STORE', path))], exit, said),
)
