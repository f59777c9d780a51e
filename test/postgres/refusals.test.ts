// What cannot work is refused with a code, a sentence that names what to change, and no password in it anywhere.

import { once } from 'node:events'
import { createServer, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { open } from '../../src/index.ts'
import { later, openIn, tempFile } from '../support/engines.ts'
import { createDatabase } from '../support/postgres-database.ts'
import { type Server, startServer } from '../support/postgres-server.ts'
import { asSuperuser, makeLogin } from './logins.ts'
import { startProxy } from './proxy.ts'
import { everythingIn, isIn, keepingLog, refused } from './secrets.ts'

let server: Server
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const PASSWORD = 'hunter2-and-more'

async function prepared(): Promise<string> {
  const { url } = await createDatabase(server.url)
  await (await open(url)).close()
  return url
}

function changed(url: string, change: (parts: URL) => void): string {
  const parts = new URL(url)
  parts.password = PASSWORD
  change(parts)
  return parts.href
}

const run = (url: string, sql: string) => asSuperuser(url, (superuser) => superuser.query(sql))
const nameOf = (url: string): string => new URL(url).pathname.slice(1)

test.each([
  `"postgres://me:${PASSWORD}@127.0.0.1:1/db"`,
  ` postgres://me:${PASSWORD}@127.0.0.1:1/db`,
  `\ufeffpostgres://me:${PASSWORD}@127.0.0.1:1/db`,
  `DATABASE_URL=postgres://me:${PASSWORD}@127.0.0.1:1/db`,
  `postgres//me:${PASSWORD}@127.0.0.1:1/db`,
  `jdbc:postgres://me:${PASSWORD}@127.0.0.1:1/db`,
  `//me:${PASSWORD}@127.0.0.1:1/db`,
])('a URL with a password is not repeated in an error about a path (%#)', async (url) => {
  await refused(open(url), 'URL_UNKNOWN', PASSWORD)
})

test('a database that is required is not replaced by a file, named or not', async () => {
  await refused(open({ url: tempFile(), required: true }), 'OPTION_INVALID', PASSWORD)
  await refused(open({ url: ':memory:', required: true }), 'OPTION_INVALID', PASSWORD)
})

describe('a url that', () => {
  test.each([
    ['has a # in its password', 'postgres://me:hunter2#and-more@127.0.0.1:1/db'],
    ['has a / in its password', 'postgres://me:hunter2/and-more@127.0.0.1:1/db'],
    ['has a / behind digits in its password', 'postgres://me:4711/and-more@127.0.0.1:1/db'],
    ['has a ? behind digits in its password', 'postgres://me:4711?and-more@127.0.0.1:1/db'],
    ['has a broken escape in its name', 'postgres://me:4711-and-more@127.0.0.1:1/%ZZ'],
    ['has a port that is none', 'postgres://me:4711-and-more@127.0.0.1:port/db'],
  ])('a url that %s is not understood, and not repeated', async (_, url) => {
    for (const options of [{ url }, { url: server.url, adminUrl: url }, { url: server.url, listenUrl: url }])
      await refused(open(options), 'URL_UNKNOWN', 'hunter2', '4711', 'and-more')
  })

  test('a url that has a lone percent sign in its password is taken as it is', async () => {
    await refused(open('postgres://me:4711%ZZand-more@127.0.0.1:1/db'), 'DATABASE_UNREACHABLE', '4711', 'and-more')
  })

  test('a url that leads to nobody is told apart from one that leads to the wrong one', async () => {
    const url = await prepared()
    const nowhere = changed(url, (parts) => {
      parts.hostname = 'no-such-host.invalid'
    })
    expect(await refused(open(nowhere), 'DATABASE_UNREACHABLE', PASSWORD)).toMatch(/host and port in url/)
    const closed = changed(url, (parts) => {
      parts.port = '1'
    })
    expect(await refused(open(closed), 'DATABASE_UNREACHABLE', PASSWORD)).toMatch(/ECONNREFUSED/)
    const other = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1')
    await once(other, 'listening')
    later(() => other.close())
    const { port } = other.address() as { readonly port: number }
    const web = changed(url, (parts) => {
      parts.port = String(port)
    })
    await refused(open(web), 'DATABASE_UNREACHABLE', PASSWORD)
  })

  test('a url that has the wrong user or password is refused by name of what to check', async () => {
    const url = await prepared()
    const password = new URL(url).password
    expect(await refused(open(changed(url, () => {})), 'DATABASE_LOGIN_REFUSED', PASSWORD)).toMatch(/user and password in url/)
    const stranger = changed(url, (parts) => {
      parts.username = 'stranger'
    })
    await refused(open(stranger), 'DATABASE_LOGIN_REFUSED', PASSWORD)
    const silent = changed(url, (parts) => {
      parts.password = ''
    })
    await refused(open(silent), 'DATABASE_LOGIN_REFUSED', password)
    await refused(open({ url, adminUrl: changed(url, () => {}) }), 'DATABASE_LOGIN_REFUSED', PASSWORD, password)
  })

  test('a url that names a database that is not there is refused by name of what to check', async () => {
    const url = new URL(server.url)
    url.pathname = '/nowhere'
    expect(await refused(open(url), 'DATABASE_MISSING', url.password)).toMatch(/"nowhere" does not exist.*the database name in the url/)
  })

  test('a url that belongs to somebody without the rights is refused by name of what to grant', async () => {
    const url = await prepared()
    const nobody = await makeLogin(url)
    expect(
      await refused(open({ url: nobody.url, tenantKey: 'a key that is long enough' }), 'DATABASE_RIGHT_MISSING', nobody.password),
    ).toMatch(/Grant it inkfast_app/)
    const { url: empty } = await createDatabase(server.url)
    const early = await makeLogin(empty)
    expect(await refused(open(early.url), 'DATABASE_RIGHT_MISSING', early.password)).toMatch(/may not create roles and a schema/)
    const late = await makeLogin(url, { roles: ['inkfast_app'] })
    await run(url, 'revoke insert on inkfast.receipts from inkfast_app')
    const store = await openIn(late.url, { adminUrl: url })
    await refused((await store.session('s')).append('task.done', {}, { key: 'k' }), 'DATABASE_RIGHT_MISSING', late.password)
    expect((await store.head()).seq).toBe(1)
  })
})

describe('a database that', () => {
  test('a database that isolates in another way is refused by name of the setting', async () => {
    const url = await prepared()
    await run(url, `alter database ${nameOf(url)} set default_transaction_isolation = 'serializable'`)
    expect(await refused(open(url), 'DATABASE_UNSUITABLE', new URL(url).password)).toMatch(
      /default_transaction_isolation.*'read committed'/,
    )
  })

  test('a database that has another encoding is refused by name of the one to use', async () => {
    await run(server.url, `create database ascii encoding 'SQL_ASCII' locale_provider libc locale 'C' template template0`)
    const url = new URL(server.url)
    url.pathname = '/ascii'
    expect(await refused(open(url), 'DATABASE_UNSUITABLE', url.password)).toMatch(/SQL_ASCII.*UTF8/)
  })

  test('a database that does not flush is refused by name of the setting, unless that is what was asked for', async () => {
    const careless = await startServer({ fsync: false })
    later(() => careless.stop())
    expect(await refused(open(careless.url), 'DATABASE_UNSUITABLE', new URL(careless.url).password)).toMatch(
      /fsync is off.*durability 'normal'/,
    )
    const store = await openIn(careless.url, { durability: 'normal' })
    expect(store.traits.durable).toBe(false)
  })
})

describe('a server that is away', () => {
  const away = 'postgres://me:hunter2-and-more@127.0.0.1:1/db'

  test('a server that is away is replaced by the fallback only, which says so', async () => {
    const { logger, lines } = keepingLog()
    const store = await openIn(away, { fallback: tempFile(), logger })
    await (await store.session('s')).append('task.done', {})
    expect(store.name).toBe('sqlite')
    const { status, ready, why } = await store.health()
    expect([status, ready]).toEqual(['degraded', true])
    expect(why.join()).toMatch(/this is the fallback: postgres:\/\/127\.0\.0\.1:1\/db cannot be reached/)
    expect(lines.join()).toMatch(/a file is used instead/)
    expect(isIn(lines.join() + why.join(), PASSWORD)).toBe(false)
    await refused(open(away), 'DATABASE_UNREACHABLE', PASSWORD)
  })

  test('a server that is away is not replaced where it is required', async () => {
    await refused(open({ url: away, fallback: tempFile(), required: true }), 'DATABASE_UNREACHABLE', PASSWORD)
  })

  test('a server that is away is not replaced for any other reason', async () => {
    const url = await prepared()
    const fallback = tempFile()
    await refused(open({ url: changed(url, () => {}), fallback }), 'DATABASE_LOGIN_REFUSED', PASSWORD)
    // Somebody is there, however little can be agreed on.
    const tls = (query: string) =>
      changed(url, (parts) => {
        parts.search = query
      })
    await refused(open({ url: tls('?sslmode=verify-full'), fallback }), 'DATABASE_TLS_FAILED', PASSWORD)
    await refused(open({ url: tls('?sslmode=verify-full&sslrootcert=/no/such/file'), fallback }), 'DATABASE_TLS_FAILED', PASSWORD)
    const full = await makeLogin(url, { roles: ['inkfast_app'], with: 'connection limit 0' })
    await refused(open({ url: full.url, fallback, tenantKey: 'a key that is long enough' }), 'DATABASE_BUSY', full.password)
    const store = await openIn(url, { fallback })
    expect(store.name).toBe('postgres')
    expect((await store.health()).status).toBe('ok')
  })

  test('a server that is away is not taken for another one, however powerful its other address is', async () => {
    const [url, other] = [await prepared(), await prepared()]
    const app = await makeLogin(url, { roles: ['inkfast_app'] })
    expect(await refused(open({ url: app.url, adminUrl: other }), 'OPTION_INVALID', app.password)).toMatch(/a different database than url/)
    // The same one, by two logins who live in different time zones.
    await run(url, `alter role ${app.name} set timezone = 'Asia/Tokyo'`)
    expect((await openIn(app.url, { adminUrl: url })).name).toBe('postgres')
  })

  test('a server that is away is asked whether it answers: health does not go by the connection that listens', async () => {
    const url = await prepared()
    const proxy = await startProxy(url)
    const store = await openIn(proxy.url, { listenUrl: url })
    await vi.waitFor(async () => expect(await store.health()).toMatchObject({ status: 'ok', why: [] }), { timeout: 20_000 })
    proxy.shut(true)
    const health = await store.health()
    expect([health.status, health.ready]).toEqual(['degraded', false])
    expect(health.why.join()).toMatch(/cannot be reached|no answer/)
  })

  test('a server that is away is not even asked for where there is to be no network', async () => {
    const url = await prepared()
    const connect = vi.spyOn(Socket.prototype, 'connect')
    later(() => connect.mockRestore())
    const elsewhere = 'postgres://me:hunter2-and-more@db.example.org/db'
    const hidden = 'postgres://me:hunter2-and-more@127.0.0.1/db?host=127.0.0.1&host=db.example.org'
    for (const far of [elsewhere, hidden])
      expect(await refused(open({ url: far, airGapped: true }), 'OPTION_INVALID', PASSWORD)).toMatch(/airGapped/)
    expect(connect).not.toHaveBeenCalled()
    const { password } = new URL(url)
    const socket = `postgres://postgres:${password}@/${nameOf(url)}?host=${encodeURIComponent(server.folder)}&port=${server.port}`
    for (const near of [url, socket]) expect((await openIn(near, { airGapped: true })).traits.network).toBe(false)
    expect(connect).toHaveBeenCalled()
  })
})

test('a password is in no error, log or health of a store whose server goes away and comes back', async () => {
  const url = await prepared()
  const { password } = new URL(url)
  const proxy = await startProxy(url)
  const { logger, lines } = keepingLog()
  const store = await openIn(proxy.url, { logger })
  const session = await store.session('s')
  proxy.shut(true)
  const shown: string[] = []
  for (const attempt of [() => session.append('task.done', {}), () => store.page(), () => store.verify(), () => store.session('another')])
    shown.push(await attempt().then(String, everythingIn))
  shown.push(everythingIn(await store.health()), ...lines)
  proxy.shut(false)
  expect(shown.join()).toMatch(/DATABASE_UNREACHABLE|OUTCOME_UNKNOWN/)
  expect(isIn(shown.join('\n'), password)).toBe(false)
  await session.append('task.done', {})
})

test('a password that is shown would be found', async () => {
  class Telling extends Error {
    readonly #url = `postgres://me:${PASSWORD}@127.0.0.1/db`
    get url(): string {
      return this.#url
    }
  }
  const hidden = new Error('outer', { cause: Object.defineProperty(new Error('inner'), 'config', { value: { password: PASSWORD } }) })
  for (const error of [new Error(PASSWORD), hidden, Object.assign(new Error('x'), { details: [{ deep: { url: PASSWORD } }] })])
    expect(isIn(everythingIn(error), PASSWORD)).toBe(true)
  expect(isIn(new Telling('x').url, PASSWORD)).toBe(true)
})
