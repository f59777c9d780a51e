// Approvals from the terminal: looked at, decided, exported and checked, and what makes no sense is refused in one line.

import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ApprovalRow, open } from '../../src/index.ts'
import { digestOf, inStore, UNKNOWN } from './runs-support.ts'
import { folder, inkHere as ink, lines } from './support.ts'

let made: string
let path: string
const ids: Record<string, string> = {}

beforeAll(async () => {
  made = join(folder(), 'agents.db')
  await using store = await open(made)
  const session = await store.session('support/4711')
  const ask = async (name: string, options: object) => {
    ids[name] = (await store.as('agent_7').approvals.request({ subject: name, ...options })).id
  }
  await ask('old', { risk: 'low' })
  await store.approvals.decide(ids.old as string, { decision: 'deny', by: 'user/ada', note: 'no \u001b[31m' })
  await ask('deploy', {
    subjectType: 'tool',
    data: { to: 'staging' },
    key: 'call-12',
    risk: 'critical',
    deciders: ['user/grace'],
    within: '2d',
    session: session.id,
  })
  await ask('anybody', { data: { hostile: '\u009b31m\u202e' } })
  await store.approvals.delivered(ids.deploy as string, { channel: 'slack', ref: 'C1' })
  await store.approvals.seen(ids.deploy as string, { by: 'user/ada' })
})

/** Each test has a copy of its own. */
beforeEach(() => {
  path = join(folder(), 'agents.db')
  copyFileSync(made, path)
})

const json = async (words: readonly string[]) => JSON.parse((await ink([...words, '--json'])).out)
const rowOf = (id = '') => inStore(path, (store) => store.approvals.get(id)) as Promise<ApprovalRow>

describe('list and show', () => {
  test('approvals list and show tell what is asked, of whom and until when, or what came of it, and only look', async () => {
    const before = digestOf(path)
    const { code, out } = await ink(['approvals', path])
    expect(code).toBe(0)
    const line = (id = '') => lines(out).find((text) => text.includes(id))
    expect(line(ids.deploy)).toMatch(/ pending +critical +tool +deploy .* for user\/grace until \d{4}-\d\d-\d\d .*\(in 47 h\)$/)
    expect(line(ids.old)).toMatch(/ denied .* old .* by user\/ada at .* \(no \\u001b\[31m\)$/)
    expect(lines((await ink(['approvals', 'list', path, '--state', 'pending', '--risk', 'critical'])).out)).toHaveLength(2)
    const page = await json(['approvals', 'list', path, '--session', 'support/4711', '--type', 'tool'])
    expect(page.items.map(({ id }: ApprovalRow) => id)).toEqual([ids.deploy])
    expect((await json(['approvals', 'list', path, '--last', '1'])).cursor).toBeDefined()
    const shown = (await ink(['approvals', 'show', path, ids.deploy as string])).out
    for (const text of ['deploy', '{"to":"staging"}', 'critical', 'asked', 'delivered', 'slack C1', 'seen', 'user/ada', 'by agent_7'])
      expect(shown).toContain(text)
    expect((await ink(['approvals', 'show', path, ids.anybody as string])).out).not.toMatch(/[\u0080-\u009f\u202e]/)
    const { approval, history } = await json(['approvals', 'show', path, ids.deploy as string])
    expect([approval.id, history.map(({ what }: { what: string }) => what)]).toEqual([ids.deploy, ['asked', 'delivered', 'seen']])
    expect(digestOf(path)).toBe(before)
  })
})

describe('the filters of list and export', () => {
  test('approvals list and export filter by subject, key, digest, asker, decider and time', async () => {
    const rows = await Promise.all([ids.old, ids.deploy, ids.anybody].map(rowOf))
    const [old, deploy, anybody] = rows as [ApprovalRow, ApprovalRow, ApprovalRow]
    const last = new Date(Math.max(...rows.map(({ askedAt }) => askedAt)) + 1).toISOString()
    for (const [filter, expected, told] of [
      [['--subject', 'deploy'], [deploy], { subject: 'deploy' }],
      [['--key', 'call-12'], [deploy], { key: 'call-12' }],
      [['--key', 'call-13'], [], { key: 'call-13' }],
      [['--digest', deploy.digest as string], [deploy], { digest: deploy.digest }],
      [['--asked-by', 'agent_7'], [old, deploy, anybody], { askedBy: 'agent_7' }],
      [['--asked-by', 'agent_8'], [], { askedBy: 'agent_8' }],
      [['--decided-by', 'user/ada'], [old], { decidedBy: 'user/ada' }],
      [['--decided-by', 'user/ada', '--subject', 'deploy'], [], { decidedBy: 'user/ada', subject: 'deploy' }],
      [['--since', '1h', '--until', last], [old, deploy, anybody], { until: Date.parse(last) }],
      [['--since', last], [], { since: Date.parse(last) }],
      [['--until', '1h'], [], {}],
    ] as const) {
      const { items } = await json(['approvals', 'list', path, ...filter])
      expect(items.map(({ id }: ApprovalRow) => id)).toEqual(expected.map(({ id }) => id).toReversed())
      const { code, out, err } = await ink(['approvals', 'export', path, ...filter])
      const exported = lines(out).map((line) => JSON.parse(line))
      expect([code, exported.length - 1]).toEqual([0, expected.length])
      expect(exported.at(-1).filter).toMatchObject(told)
      expect(err).toContain('the approvals that match, not all of them')
    }
  })
})

describe('approve, deny and revoke', () => {
  test('approvals approve, deny and revoke decide on what was looked at, for whoever may, once or for longer', async () => {
    const { digest } = await rowOf(ids.deploy)
    const words = [
      'approvals',
      'approve',
      path,
      ids.deploy as string,
      '--digest',
      digest as string,
      '--scope',
      'session',
      '--actor',
      'user/grace',
    ]
    const { code, out } = await ink([...words, '--note', 'token=ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2'])
    const permits = await json(['approvals', 'permits', path])
    const [permit] = permits.items
    expect([code, out]).toEqual([
      0,
      `✓ 'deploy' (${ids.deploy}) is approved by user/grace; later requests with the same digest are approved too (permit ${permit.id})\n`,
    ])
    expect(JSON.stringify(await rowOf(ids.deploy))).not.toContain('ghp_')
    expect((await ink(['approvals', 'permits', path])).out).toMatch(
      new RegExp(`${permit.id} +active +approve +tool +deploy +user/grace +session `),
    )
    const revoked = await ink(['approvals', 'revoke', path, permit.id, '--reason', 'over', '--by', 'user/ada'])
    expect([revoked.code, revoked.out]).toEqual([
      0,
      `✓ the permit ${permit.id} for 'deploy' is revoked; later requests ask a person again\n`,
    ])
    expect((await json(['approvals', 'permits', path, '--state', 'revoked', '--session', 'support/4711'])).items).toMatchObject([
      { id: permit.id, reason: 'over', revokedBy: 'user/ada' },
    ])
    expect((await json(['approvals', 'deny', path, ids.anybody as string, '--scope', '1h'])).approval).toMatchObject({ state: 'denied' })
    expect((await ink(['verify', path])).code).toBe(0)
    expect((await ink(['rebuild', path, '--check'])).code).toBe(0)
  })
})

describe('export and verify', () => {
  test('approvals export and verify write a file that verifies byte for byte, and name the line that was changed', async () => {
    const { code, out, err } = await ink(['approvals', 'export', path])
    expect([code, lines(out).length]).toEqual([0, 4])
    const chain = /: ([0-9a-f]{64})/.exec(err)?.[1]
    expect(
      await inStore(path, async (store) => {
        const made: string[] = []
        for await (const line of store.approvals.export()) made.push(line)
        return made.map((line) => `${line}\n`).join('')
      }),
    ).toBe(out)
    const file = join(folder(), 'approvals.ndjson')
    writeFileSync(file, out)
    expect(await ink(['approvals', 'verify', file])).toMatchObject({
      code: 0,
      out: expect.stringContaining(`✓ intact: 3 approvals, none changed since the export; final chain ${chain}`),
    })
    expect(await json(['approvals', 'verify', file, '--chain', chain as string])).toEqual({ intact: true, records: 3, chain })
    expect(await ink(['approvals', 'verify', file, '--chain', '0'.repeat(64)])).toMatchObject({ code: 1 })
    expect(await ink(['approvals', 'verify', dirname(file)])).toMatchObject({ code: 2, err: expect.stringContaining('is a folder') })
    writeFileSync(file, readFileSync(file, 'utf8').replace('staging', 'production'))
    const broken = await ink(['approvals', 'verify', file])
    expect([broken.code, broken.out]).toEqual([1, expect.stringContaining('✗ line 2: its record does not match its digest')])
    expect(await json(['approvals', 'verify', file])).toMatchObject({ intact: false, brokenAt: 2, records: 1 })
    writeFileSync(file, Buffer.concat([Buffer.from(out), Buffer.from([0xff])]))
    expect(await json(['approvals', 'verify', file])).toMatchObject({ intact: false, brokenAt: 5 })
    expect(lines((await ink(['approvals', 'export', path, '--state', 'pending'])).out)).toHaveLength(3)
    expect(lines((await ink(['approvals', 'export', path, '--after', '100000'])).out)).toHaveLength(1)
  })
})

describe('what is refused', () => {
  test.each([
    [['list', 'STORE', '--state', 'asleep'], 2, 'Allowed choices are pending'],
    [['list', 'STORE', '--risk', 'none'], 2, 'Allowed choices are low'],
    [['list', 'STORE', '--run', 'x'], 2, 'is not an id'],
    [['list', 'STORE', '--session', 'support/none'], 3, 'no session support/none'],
    [['list', 'STORE', '--cursor', 'x'], 2, 'cursor'],
    [['list', 'STORE', '--tenant', 'acme'], 3, 'no tenant acme'],
    [['STORE', 'show', UNKNOWN], 2, 'The verb comes before the store'],
    [['show', 'STORE'], 2, 'Missing <approval>'],
    [['show', 'STORE', 'x'], 2, 'is not an id'],
    [['show', 'STORE', UNKNOWN], 3, 'There is no approval'],
    [['approve', 'STORE', UNKNOWN], 3, 'There is no approval'],
    [['approve', 'STORE', 'OLD'], 5, 'is already denied'],
    [['approve', 'STORE', 'DEPLOY', '--by', 'user/mallory'], 3, 'user/mallory may not decide'],
    [['approve', 'STORE', 'DEPLOY'], 3, 'An unnamed caller'],
    [['approve', 'STORE', 'DEPLOY', '--by', 'user/grace', '--digest', 'ab'.repeat(32)], 5, 'Nothing was decided'],
    [['approve', 'STORE', 'DEPLOY', '--by', 'user/grace', '--scope', 'ever'], 2, 'is not a duration'],
    [['approve', 'STORE', 'ANYBODY', '--scope', 'session'], 2, 'has no session'],
    [['deny', 'STORE', 'ANYBODY', '--value', '{oops'], 2, 'is not JSON'],
    [['revoke', 'STORE', UNKNOWN], 3, 'There is no permit'],
    [['export', 'STORE', 'more'], 2, 'Unexpected argument'],
    [['verify'], 2, 'Missing <file>'],
    [['verify', 'STORE.none'], 3, 'does not exist'],
    [['verify', 'STORE', '--chain', 'x'], 2, '64 hex digits'],
  ] as const)('approvals %j ends with %i and one line', async (words, exit, said) => {
    const before = await inStore(path, (store) => store.head())
    const named = { STORE: path, OLD: ids.old, DEPLOY: ids.deploy, ANYBODY: ids.anybody }
    const meant = words.map((word) =>
      Object.entries(named).reduce((text, [name, value]) => text.replace(name, value as string), word as string),
    )
    const { code, out, err } = await ink(['approvals', ...meant])
    expect([code, out]).toEqual([exit, ''])
    expect(err).toMatch(/^inkfast: .*\n$/)
    expect(err).toContain(said)
    // A decision that is forbidden is in the audit, beside the journal.
    expect(await inStore(path, (store) => store.head())).toEqual(before)
  })

  test('a refusal of approvals is an object with --json', async () => {
    expect((await json(['approvals', 'show', path, UNKNOWN])).error).toMatchObject({ code: 'APPROVAL_UNKNOWN', kind: 'missing' })
    expect((await json(['approvals', 'approve', path, ids.deploy as string])).error).toMatchObject({
      code: 'APPROVAL_FORBIDDEN',
      kind: 'denied',
    })
  })
})
