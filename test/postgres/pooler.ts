// A transaction pooler as many stand before a server: it lends a connection of the server for one transaction and then to somebody else,
// forwards every message as it is, and drops what the server says when nobody is listening. It remembers no prepared statements and nothing of LISTEN.

import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { Client } from 'pg'
import { later } from '../support/engines.ts'

export interface Pooler {
  readonly url: string
  /** How many transactions were carried. */
  readonly transactions: number
}

const [READY, IDLE, TERMINATE] = [0x5a, 0x49, 0x58]
const SSL_REQUEST = 80877103

/** A connection of the server: logged in by the driver, then used as a bare socket. */
interface Lent {
  readonly socket: Socket
  borrower: Socket | undefined
  readonly frames: Frames
}

/** Cuts a stream into messages: a letter, a length that counts itself, and the rest. */
class Frames {
  #rest: Buffer = Buffer.alloc(0)

  take(piece: Buffer): readonly Buffer[] {
    this.#rest = Buffer.concat([this.#rest, piece])
    const frames: Buffer[] = []
    while (this.#rest.length >= 5) {
      const size = 1 + this.#rest.readUInt32BE(1)
      if (this.#rest.length < size) break
      frames.push(this.#rest.subarray(0, size))
      this.#rest = this.#rest.subarray(size)
    }
    return frames
  }
}

/** `url` is a login's; everybody who connects to the pooler is that login. */
export async function startPooler(url: string, { size }: { readonly size: number }): Promise<Pooler> {
  const idle: Lent[] = []
  const queue: ((lent: Lent) => void)[] = []
  const sockets = new Set<Socket>()
  let transactions = 0

  const free = (lent: Lent) => {
    lent.borrower = undefined
    const next = queue.shift()
    if (next) next(lent)
    else idle.push(lent)
  }
  const lend = async (): Promise<Lent> => {
    const login = new Client(url)
    await login.connect()
    const { stream: socket } = (login as unknown as { readonly connection: { readonly stream: Socket } }).connection
    socket.removeAllListeners()
    // Once it is a bare socket, whoever borrows it hears that it broke.
    socket.on('error', () => {})
    const lent: Lent = { socket, borrower: undefined, frames: new Frames() }
    sockets.add(socket)
    socket.on('data', (piece: Buffer) => {
      for (const frame of lent.frames.take(piece)) {
        lent.borrower?.write(frame)
        if (frame[0] !== READY || frame[5] !== IDLE || !lent.borrower) continue
        transactions++
        free(lent)
      }
    })
    return lent
  }
  for (let i = 0; i < size; i++) idle.push(await lend())

  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => {})
    const frames = new Frames()
    let greeted = false
    let lent: Lent | undefined
    const waiting: Buffer[] = []
    const forward = (frame: Buffer) => {
      if (frame[0] === TERMINATE) return void client.end()
      if (lent?.borrower === client) return void lent.socket.write(frame)
      waiting.push(frame)
      if (waiting.length > 1) return
      const take = (one: Lent) => {
        lent = one
        one.borrower = client
        for (const held of waiting.splice(0)) one.socket.write(held)
      }
      const one = idle.shift()
      if (one) take(one)
      else queue.push(take)
    }
    client.on('data', (piece: Buffer) => {
      if (greeted) for (const frame of frames.take(piece)) forward(frame)
      else if (piece.readUInt32BE(4) === SSL_REQUEST) client.write('N')
      else {
        greeted = true
        client.write(greeting())
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  later(async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the pooler has no port')
  const through = new URL(url)
  through.port = String(address.port)
  return {
    url: through.href,
    get transactions() {
      return transactions
    },
  }
}

/** Logged in, some settings, a key for cancelling that is nobody's, and ready. */
function greeting(): Buffer {
  const message = (letter: string, ...parts: readonly Buffer[]): Buffer => {
    const body = Buffer.concat(parts)
    const size = Buffer.alloc(4)
    size.writeUInt32BE(body.length + 4)
    return Buffer.concat([Buffer.from(letter), size, body])
  }
  const setting = (name: string, value: string) => message('S', Buffer.from(`${name}\0${value}\0`))
  return Buffer.concat([
    message('R', Buffer.alloc(4)),
    setting('server_version', '15.0'),
    setting('client_encoding', 'UTF8'),
    setting('standard_conforming_strings', 'on'),
    message('K', Buffer.alloc(8, 7)),
    message('Z', Buffer.from('I')),
  ])
}
