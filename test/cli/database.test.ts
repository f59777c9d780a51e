// Each command on a store on a server, as an operator and as a node's own login; and what is never shown.

import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { freshDatabase } from '../support/databases.ts'
import { query } from '../support/postgres-database.ts'
import { startServer } from '../support/postgres-server.ts'
import { deafTo, PASSWORD, passwordsOf, type ServedStore, servedStore, TENANT_KEY } from './database-support.ts'
import { folder, inkHere as ink, ink as inkProcess, lines, start } from './support.ts'

let store: ServedStore
/** As a node would: its own login, and the key from the environment. */
let asNode: Readonly<Record<string, string>>

beforeAll(async () => {
  store = await servedStore()
  asNode = { INKFAST_URL: store.node, INKFAST_TENANT_KEY: TENANT_KEY }
})

const json = async (words: readonly string[], env = asNode) => JSON.parse((await ink([...words, '--json'], env)).out)

interface Finding {
  readonly name: string
  readonly state: string
  readonly found: string
  readonly todo?: string
}

const diagnose = async (env: Readonly<Record<string, string>>): Promise<readonly Finding[]> => (await json(['doctor'], env)).findings
const findingOf = (findings: readonly Finding[], name: string) => findings.find((finding) => finding.name === name)

describe('on a server', () => {
  test('events, sessions and tenants are shown', async () => {
    const { code, out } = await inkProcess(['events', '--json'], asNode)
    expect(code).toBe(0)
    expect(lines(out).map((line) => JSON.parse(line).seq)).toEqual([1, 2, 3, 4, 5, 6])
    expect((await ink(['events', store.admin, '--type', 'plan.*', '--last', '1'])).out).toContain('{"steps":3}')
    expect((await json(['sessions'])).items.map((one: { key: string }) => one.key)).toEqual(['support/4712', 'support/4711'])
    expect((await json(['sessions', 'show', 'support/4711'])).session).toMatchObject({ title: 'Order 4711' })
    expect((await json(['tenants'])).tenants).toEqual([
      { tenant: 'acme', state: 'active', events: 2 },
      { tenant: 'main', state: 'active', events: 6 },
    ])
  })

  test('tail shows what another node appends, as it is appended', async () => {
    const tail = start(['tail', '--json', '--last', '0', '--tenant', 'acme'], asNode)
    const shown = once(tail.stdout, 'data')
    await using writer = await open({ url: store.node, tenantKey: TENANT_KEY })
    const session = await writer.tenant('acme').session('a/1')
    const beat = setInterval(() => void session.append('beat.heard', {}), 50)
    try {
      expect(JSON.parse(lines(String(await shown))[0] as string)).toMatchObject({ type: 'beat.heard', tenant: 'acme' })
    } finally {
      clearInterval(beat)
      tail.kill('SIGINT')
      await once(tail, 'close')
    }
    expect(tail.exitCode).toBe(0)
  })

  test('verify walks every tenant, also against receipts, and finds what was changed', async () => {
    const file = join(folder(), 'receipts.json')
    writeFileSync(file, JSON.stringify(store.receipts))
    const { code, out } = await ink(['verify', '--receipts', file], asNode)
    expect(code).toBe(0)
    expect(out).toContain('the server reports no damage')
    expect(out).toContain('and 4 receipts kept elsewhere')
    const other = await servedStore()
    await query(other.admin, 'alter table inkfast.events disable trigger events_stay')
    await query(other.admin, `update inkfast.events set payload = '{"steps":8}' where tenant = 'main' and seq = 3`)
    const broken = await ink(['verify', other.admin])
    expect(broken.code).toBe(4)
    expect(broken.out).toContain('the trigger events_stay is missing or turned off')
    expect(broken.out).toContain('tenant main is not intact, first at seq 3')
    expect(broken.out).toContain('keep a copy of this database')
  })

  test('rebuild compares the rows with the fold, and puts the fold in their place', async () => {
    const other = await servedStore()
    const env = { ...asNode, INKFAST_URL: other.node }
    expect((await json(['rebuild', '--check'], env)).equal).toBe(true)
    await query(other.admin, `update inkfast.sessions set body = replace(body, 'Order', 'Odour') where body like '%Order%'`)
    const differs = await ink(['rebuild', '--check'], env)
    expect(differs.code).toBe(1)
    expect(differs.out).toContain('title: "Odour 4711" → "Order 4711"')
    expect((await ink(['rebuild'], env)).code).toBe(0)
    expect((await json(['rebuild', '--check'], env)).equal).toBe(true)
  })

  test('du tells bytes by table, rows and types', async () => {
    const report = await json(['du', '--tenant', 'main'])
    expect(report.bytes.events).toBeGreaterThan(8192)
    expect(report.tenants[0]).toMatchObject({ tenant: 'main', events: 6 })
  })

  test('tenants are suspended and resumed', async () => {
    expect((await ink(['tenants', 'suspend', 'acme', '--reason', 'invoice 81 is not paid'], asNode)).out).toBe(
      '✓ tenant acme is now suspended\n',
    )
    expect(await ink(['events', '--tenant', 'acme'], asNode)).toMatchObject({ code: 3, out: '' })
    expect((await ink(['tenants', 'resume', 'acme', '--reason', 'it was paid'], asNode)).code).toBe(0)
    expect((await ink(['events', '--tenant', 'acme'], asNode)).code).toBe(0)
  })
})

describe('migrate', () => {
  test('migrate shows a plan without changing anything, then does it, then has nothing to do', async () => {
    const { url } = await freshDatabase()
    const plan = await ink(['migrate', url, '--plan', '--sql'])
    expect(plan.code).toBe(0)
    expect(plan.out).toContain('schema 0 → 1')
    expect(plan.out).toContain('nothing was changed')
    expect(plan.out).toContain('create table inkfast.events (')
    expect(await query(url, "select 1 from pg_namespace where nspname = 'inkfast'")).toEqual([])
    expect((await ink(['events', url])).code).toBe(3)
    expect((await ink(['migrate', url])).out).toContain('1 migration applied')
    expect((await ink(['migrate', url])).out).toContain('up to date: nothing to do')
    const report = await json(['migrate', url, '--plan'])
    expect(report).toMatchObject({ plan: true, found: 1, needed: 1, applied: 0, migrations: [{ number: 1, serves: 1 }] })
    expect(report.migrations[0].sql).toBeUndefined()
  })

  test('migrate makes a tenant key known, from an option or the environment; the one before stays good', async () => {
    const other = await servedStore()
    const events = (key: string) => ink(['events', other.node], { INKFAST_TENANT_KEY: key })
    expect((await events('a key nobody gave it')).code).toBe(3)
    expect((await events('a key nobody gave it')).err).toContain('does not know this tenantKey')
    expect((await ink(['migrate', other.admin, '--tenant-key', 'the second key of this store'])).code).toBe(0)
    expect((await events(TENANT_KEY)).code).toBe(0)
    expect((await events('the second key of this store')).code).toBe(0)
    expect((await ink(['migrate', other.admin], { INKFAST_TENANT_KEY: 'the third key of this store' })).code).toBe(0)
    expect((await events('the third key of this store')).code).toBe(0)
    expect((await events(TENANT_KEY)).code).toBe(3)
  })

  test('migrate puts row-level security back and says so', async () => {
    const other = await servedStore()
    await query(other.admin, 'alter table inkfast.names no force row level security')
    const doctor = await ink(['doctor', other.admin])
    expect([doctor.code, doctor.out]).toEqual([1, expect.stringContaining('row-level security is not forced on names')])
    expect((await ink(['migrate', other.admin])).out).toContain('row-level security was switched off on names')
    expect((await ink(['doctor', other.admin])).code).toBe(0)
  })

  test.each([
    [['migrate', 'agents.db', '--tenant-key', 'a key for no database'], 'can only be used with PostgreSQL'],
    [['migrate', 'postgres://localhost/x', '--sql'], '--sql can only be used with --plan'],
  ])('migrate refuses %j', async (words, said) => {
    const { code, err } = await ink(words)
    expect(code).toBe(2)
    expect(err).toContain(said)
  })

  test('migrate is refused to a login that may not', async () => {
    const { url } = await freshDatabase()
    const weak = new URL(url)
    weak.username = store.login
    weak.password = PASSWORD
    const { code, err } = await ink(['migrate', weak.href])
    expect(code).toBe(3)
    expect(err).toContain('The login lacks a privilege')
    expect(await query(url, "select 1 from pg_namespace where nspname = 'inkfast'")).toEqual([])
  })
})

describe('doctor', () => {
  test("doctor finds a node's own login fine, and warns of one that could do more", async () => {
    const own = await diagnose(asNode)
    expect(own.filter(({ state }) => state !== 'ok')).toEqual([])
    expect(own.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'server',
        'login',
        'wall',
        'schema',
        'fsync',
        'checksums',
        'connections',
        'signals',
        'pages',
        'journal main',
      ]),
    )
    const powerful = await diagnose({ INKFAST_URL: store.admin })
    expect(powerful.filter(({ state }) => state !== 'ok').map(({ name }) => name)).toEqual(['login'])
    expect(findingOf(powerful, 'login')).toMatchObject({
      found: expect.stringMatching(/is a superuser; .* can reset the role and leave the wall/),
    })
  })

  test('doctor warns where notifications do not come through', async () => {
    const deaf = await deafTo(store.node)
    try {
      const findings = await diagnose({ ...asNode, INKFAST_URL: deaf.url })
      expect(findings.filter(({ state }) => state !== 'ok').map(({ name }) => name)).toEqual(['signals'])
      expect(findingOf(findings, 'signals')?.todo).toContain('listenUrl')
    } finally {
      deaf.close()
    }
  })

  test('doctor warns of a server that does not flush and of one that is almost full', async () => {
    await using server = await startServer({ fsync: false, settings: { full_page_writes: 'off', max_connections: 20 } })
    expect((await ink(['migrate', server.url])).code).toBe(0)
    const findings = await diagnose({ INKFAST_URL: server.url })
    expect(findings.filter(({ state }) => state === 'warn').map(({ name }) => name)).toEqual([
      'login',
      'fsync',
      'full_page_writes',
      'connections',
    ])
  })

  test('doctor says what is wrong where it cannot be opened', async () => {
    const { url } = await freshDatabase()
    const { code, out } = await ink(['doctor', url])
    expect(code).toBe(1)
    expect(out).toMatch(/✗ opens +There is no store at postgres:/)
  })
})

describe('what cannot be reached', () => {
  const from = (change: (url: URL) => void): string => {
    const url = new URL(store.node)
    change(url)
    return url.href
  }

  test('a store that cannot be reached ends with a number that scripts can rely on', async () => {
    const away = from((url) => {
      url.port = '1'
    })
    const stranger = from((url) => {
      url.password = 'guessed'
    })
    const nowhere = from((url) => {
      url.pathname = '/no_such_database'
    })
    const codes = await Promise.all([away, stranger, nowhere].map(async (url) => (await json(['events', url])).error.code))
    expect(codes).toEqual(['DATABASE_UNREACHABLE', 'DATABASE_LOGIN_REFUSED', 'DATABASE_MISSING'])
    const ends = await Promise.all([away, stranger, nowhere].map(async (url) => (await ink(['verify', url], asNode)).code))
    expect(ends).toEqual([5, 3, 3])
    expect((await ink(['verify', away], { ...asNode, INKFAST_DATABASE_REQUIRED: '1' })).code).toBe(5)
  })

  test('INKFAST_DATABASE_REQUIRED=1 changes nothing where the database is there', async () => {
    expect((await ink(['tenants'], { ...asNode, INKFAST_DATABASE_REQUIRED: '1' })).code).toBe(0)
  })

  test('no password is shown, whatever goes right or wrong', async () => {
    const { url: empty } = await freshDatabase()
    const odd = 'p#ss/w@rd?x'
    const urls = [
      store.admin,
      store.node,
      empty,
      from((url) => {
        url.port = '1'
      }),
      from((url) => {
        url.password = 'another-pass-word'
      }),
      from((url) => {
        url.password = odd
      }),
      from((url) => {
        url.pathname = '/no_such_database'
      }),
      // As people write them: not encoded, so that the pieces land in host, path and fragment.
      store.node.replace(`:${PASSWORD}@`, `:${odd}@`),
      store.node.replace('postgres:', 'postgress:'),
      `${store.node}?password=${PASSWORD}`,
    ]
    const commands = [['doctor'], ['verify'], ['migrate', '--plan'], ['events'], ['sessions'], ['rebuild', '--check'], ['du'], ['tenants']]
    let shown = 0
    for (const url of urls) {
      const hidden = [...(URL.canParse(url) ? passwordsOf(url) : []), PASSWORD, odd, 'w@rd', TENANT_KEY, 'another-pass-word']
      await Promise.all(
        // All of them where the store opens; where it does not, they fail in one of three ways.
        commands.slice(0, url === store.node ? 8 : 3).map(async (words, i) => {
          const env = { INKFAST_URL: url, INKFAST_TENANT_KEY: TENANT_KEY, INKFAST_DEBUG: '1' }
          const { out, err } = await ink([...words, ...(i % 2 ? ['--json'] : [])], env)
          for (const text of hidden) expect([words, `${out}${err}`.includes(text)]).toEqual([words, false])
          shown += out.length + err.length
        }),
      )
    }
    expect(shown).toBeGreaterThan(5000)
  })
})
