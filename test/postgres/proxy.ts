// A TCP proxy before a server, with which a test does to one exchange what networks do: lose the reply, cut the request, hold one of them
// back, or be slow. The exchange is picked by a text in the request, which payloads carry as they are.

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { later } from '../support/engines.ts'

export type Fault =
  /** The request arrives and is answered; the answer is swallowed and the connection cut. */
  | 'lose the reply'
  /** The connection is cut before the request leaves. */
  | 'cut the request'
  /** The request arrives; the answer never does, and nothing is cut. */
  | 'hold the reply'
  /** The request waits until `release`, whoever still waits for its answer. */
  | 'hold the request'

export interface Proxy {
  /** The server's URL, through the proxy. */
  readonly url: string
  /** The next request that holds this text meets this fault; resolves when it has. */
  strike(text: string, fault: Fault): Promise<void>
  /** What was held back goes on; resolves once the server has answered all of it. */
  release(): Promise<void>
  /** Every piece takes this much longer, either way. */
  slow(ms: number): void
  /** Nobody gets through any more, or again. */
  shut(closed: boolean): void
}

interface Strike {
  readonly text: string
  readonly fault: Fault
  readonly met: () => void
}

/** A message of the server that says "ready": its letter, its length, and a state. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5])

export async function startProxy(url: string): Promise<Proxy> {
  const target = new URL(url)
  const strikes: Strike[] = []
  const held: (() => Promise<void>)[] = []
  const pairs = new Set<readonly [Socket, Socket]>()
  let delayMs = 0
  let closed = false

  const server = createServer((client) => {
    if (closed) return void client.destroy()
    const upstream = connect(Number(target.port), target.hostname)
    const pair = [client, upstream] as const
    pairs.add(pair)
    let swallowing: 'then cut' | 'for ever' | undefined
    const cut = () => {
      pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    // Broken connections are what this is about; whoever is at the other end hears of it.
    for (const socket of pair) socket.on('error', () => {})
    const pass = (to: Socket, piece: Buffer) => void (delayMs > 0 ? setTimeout(() => to.write(piece), delayMs) : to.write(piece))

    client.on('data', (piece: Buffer) => {
      const at = strikes.findIndex(({ text }) => piece.includes(text))
      const strike = at < 0 ? undefined : strikes.splice(at, 1)[0]
      if (strike?.fault === 'cut the request') cut()
      else if (strike?.fault === 'hold the request') held.push(() => deliverLate(upstream, piece))
      else {
        if (strike) swallowing = strike.fault === 'lose the reply' ? 'then cut' : 'for ever'
        pass(upstream, piece)
      }
      strike?.met()
    })
    upstream.on('data', (piece: Buffer) => {
      if (swallowing === undefined) pass(client, piece)
      else if (swallowing === 'then cut' && piece.includes(READY)) cut()
    })
    client.on('close', () => {
      // What is held back is delivered even when nobody waits for it any more, as a network may.
      if (held.length === 0) cut()
    })
    upstream.on('close', cut)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  later(async () => {
    server.close()
    for (const [client, upstream] of pairs) for (const socket of [client, upstream]) socket.destroy()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const through = new URL(url)
  through.port = String(address.port)
  return {
    url: through.href,
    strike: (text, fault) => new Promise((met) => strikes.push({ text, fault, met })),
    release: async () => {
      await Promise.all(held.splice(0).map((deliver) => deliver()))
    },
    slow: (ms) => {
      delayMs = ms
    },
    shut: (shut) => {
      closed = shut
      if (shut) for (const [client, upstream] of pairs) for (const socket of [client, upstream]) socket.destroy()
    },
  }
}

function deliverLate(upstream: Socket, piece: Buffer): Promise<void> {
  return new Promise((resolve) => {
    upstream.on('data', (answer: Buffer) => {
      if (answer.includes(READY)) resolve()
    })
    upstream.on('close', () => resolve())
    upstream.write(piece)
  })
}
