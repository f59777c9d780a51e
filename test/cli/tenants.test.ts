// Tenants at the terminal: listed with their states, closed and brought back, and left out by commands that look at all of them.

import { once } from 'node:events'
import { beforeEach, describe, expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { inkHere as ink, lines, smallStore, start } from './support.ts'

let path: string

beforeEach(async () => {
  path = (await smallStore()).path
})

const suspend = () => ink(['tenants', 'suspend', path, 'acme', '--reason', 'invoice 81 is not paid'])
const json = async (words: readonly string[]) => JSON.parse((await ink([...words, '--json'])).out)

describe('tenants', () => {
  test('tenants lists them with state and events', async () => {
    await suspend()
    const { code, out } = await ink(['tenants', path])
    expect(code).toBe(0)
    expect(lines(out).map((line) => line.trim().split(/ +/))).toEqual([
      ['tenant', 'state', 'events'],
      ['acme', 'suspended', '3'],
      ['main', 'active', '9'],
    ])
    expect(await json(['tenants', path])).toEqual({
      tenants: [
        { tenant: 'acme', state: 'suspended', events: 3 },
        { tenant: 'main', state: 'active', events: 9 },
      ],
    })
  })

  test('tenants suspends, resumes and deletes, and says in the journal who did it and why', async () => {
    expect(await suspend()).toMatchObject({ code: 0, out: '✓ tenant acme is now suspended\n' })
    expect((await suspend()).out).toBe('✓ tenant acme was already suspended; nothing was written\n')
    const resume = await ink(
      ['tenants', 'resume', 'acme', '--reason', 'token=ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2', '--actor', 'user_ops', '--json'],
      {
        INKFAST_URL: path,
      },
    )
    expect(JSON.parse(resume.out)).toEqual({ tenant: 'acme', state: 'active', changed: true })
    const events = lines((await ink(['events', path, '--tenant', 'acme', '--type', 'tenant.*', '--json'])).out).map((line) =>
      JSON.parse(line),
    )
    expect(events.map((e) => [e.type, e.actor])).toEqual([
      ['tenant.suspended', undefined],
      ['tenant.resumed', 'user_ops'],
    ])
    expect(events[0].data).toEqual({ reason: 'invoice 81 is not paid' })
    expect(JSON.stringify(events[1].data)).not.toContain('ghp_')
    expect((await ink(['verify', path])).code).toBe(0)
    expect((await ink(['tenants', 'delete', path, 'acme', '--reason', 'they left'])).code).toBe(0)
    const back = await ink(['tenants', 'resume', path, 'acme', '--reason', 'they came back'])
    expect(back).toMatchObject({ code: 3, out: '' })
    expect(back.err).toContain('acme is deleted')
  })

  test.each([
    [['suspend', 'STORE', 'acme'], 2, '--reason'],
    [['suspend', 'STORE', '--reason', 'x'], 2, 'Missing <tenant>'],
    [['suspend', 'STORE', 'acme', 'more', '--reason', 'x'], 2, 'Unexpected argument'],
    [['STORE', 'suspend', 'acme', '--reason', 'x'], 2, 'The verb comes before the store'],
    [['STORE', '--reason', 'x'], 2, "Unknown option '--reason'"],
    [['suspend', 'STORE', 'acmee', '--reason', 'x'], 3, 'no tenant acmee'],
    [['suspend', 'STORE', 'a/b', '--reason', 'x'], 2, 'Invalid tenant name'],
    [['suspend', 'STORE', 'acme', '--reason', ''], 2, 'reason'],
  ] as const)('tenants refuses %j with %i', async (words, exit, said) => {
    const { code, err } = await ink(['tenants', ...words.map((word) => (word === 'STORE' ? path : word))])
    expect(code).toBe(exit)
    expect(err).toContain(said)
    expect((await json(['tenants', path])).tenants.map((one: { state: string }) => one.state)).toEqual(['active', 'active'])
  })
})

describe('a suspended tenant', () => {
  test('a suspended tenant is left out, and said to be, by commands about all of them', async () => {
    await suspend()
    for (const command of [['verify'], ['rebuild', '--check'], ['du']]) {
      const { code, out } = await ink([...command, path])
      expect([command, code]).toEqual([command, 0])
      expect(out).toContain('tenant acme is suspended and was skipped')
      const told = await json([...command, path])
      expect(told.closed).toEqual([{ tenant: 'acme', state: 'suspended' }])
      expect(told.tenants.map((one: { tenant: string }) => one.tenant)).toEqual(['main'])
    }
    const doctor = await ink(['doctor', path])
    expect(doctor.code).toBe(0)
    expect(doctor.out).toMatch(/journal acme +suspended, not checked; 3 events/)
  })

  test('a suspended tenant is refused with 3 when it is named', async () => {
    await suspend()
    for (const command of ['verify', 'rebuild', 'du', 'events', 'tail', 'sessions']) {
      const { code, err } = await ink([command, path, '--tenant', 'acme'])
      expect([command, code]).toEqual([command, 3])
      expect(err).toContain('acme is suspended')
    }
  })

  test('a suspended tenant ends a tail that is running', async () => {
    const tail = start(['tail', path, '--tenant', 'acme', '--json'])
    await once(tail.stdout, 'data')
    await using store = await open(path)
    await store.setTenantState('acme', 'suspended', { reason: 'while someone looks' })
    await once(tail, 'close')
    expect(tail.exitCode).toBe(3)
  })
})
