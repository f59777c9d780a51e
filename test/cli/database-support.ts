// A store on a server for tests of the command line: a powerful login and one that may only serve, whose passwords must never be shown.

import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { open, type Receipt } from '../../src/index.ts'
import { migrateStore } from '../../src/migrations.ts'
import { preparedDatabase } from '../support/databases.ts'
import { query } from '../support/postgres-database.ts'

export const TENANT_KEY = 'the key that nodes sign with'
export const PASSWORD = 'p4ss-w0rd-that-nobody-sees'

export interface ServedStore {
  /** Of a superuser. */
  readonly admin: string
  /** Of a login that is a member of inkfast_app alone, and has the tenant key from elsewhere. */
  readonly node: string
  readonly login: string
  /** Of a login that is a member of inkfast_reader alone. */
  readonly reader: string
  readonly receipts: readonly Receipt[]
}

let login = ''
const receipts: Receipt[] = []

const as = (name: string, admin: string): string => {
  const url = new URL(admin)
  url.username = name
  url.password = PASSWORD
  return url.href
}

/** Two tenants, three sessions, nine events. Made once in a process; each store is a copy. */
export async function servedStore(): Promise<ServedStore> {
  const { url: admin } = await preparedDatabase(prepare)
  return { admin, node: as(login, admin), login, reader: as(`${login}_reader`, admin), receipts }
}

async function prepare(admin: string): Promise<void> {
  await migrateStore(admin, { tenantKey: TENANT_KEY })
  login = `node_${new URL(admin).pathname.slice(1)}`
  await query(admin, `create role ${login} login password '${PASSWORD}' in role inkfast_app`)
  await query(admin, `create role ${login}_reader login password '${PASSWORD}' in role inkfast_reader`)
  const store = await open({ url: as(login, admin), tenantKey: TENANT_KEY })
  const session = await store.as('user_ada').session('support/4711', { title: 'Order 4711', owner: 'user_ada' })
  for (let i = 1; i <= 3; i++) receipts.push(await session.append('plan.changed', { steps: i }))
  await (await store.session('support/4712')).archive()
  const other = await store.tenant('acme').session('a/1')
  receipts.push(await other.append('plan.changed', { steps: 9 }))
  await store.close()
}

/** The password of any URL, as it stands in it and as it is meant. */
export const passwordsOf = (url: string): readonly string[] => {
  const { password } = new URL(url)
  return [...new Set([password, decodeURIComponent(password)])].filter((text) => text !== '')
}

/** In front of a server, like a transaction pooler: everything goes through but notifications. */
export async function deafTo(url: string): Promise<{ readonly url: string; close(): void }> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const door: Server = createServer((client) => {
    const server = dial(Number(target.port), target.hostname)
    sockets.add(client).add(server)
    for (const socket of [client, server]) socket.on('error', () => {}).on('close', () => [client, server].map((one) => one.destroy()))
    client.pipe(server)
    let rest = Buffer.alloc(0)
    server.on('data', (bytes) => {
      rest = Buffer.concat([rest, bytes])
      while (rest.length >= 5 && rest.length >= 1 + rest.readUInt32BE(1)) {
        const size = 1 + rest.readUInt32BE(1)
        if (rest[0] !== NOTIFICATION) client.write(rest.subarray(0, size))
        rest = rest.subarray(size)
      }
    })
  })
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  const through = new URL(url)
  through.port = String((door.address() as { port: number }).port)
  return {
    url: through.href,
    close: () => {
      door.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

const NOTIFICATION = 'A'.charCodeAt(0)
