// Embedders: built in, by function, over HTTP; deadlines, retries, the circuit breaker, and what is refused.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { openAiEmbedder } from '../../src/embedders/openai-embedder.ts'
import type { StoreOptions } from '../../src/index.ts'
import { hashEmbedding } from '../../src/vectors/math/hash-embedding.ts'
import { codeOf, engines, expectSound, later, openIn } from '../support/engines.ts'

const KEY = 'sk-test-0123456789abcdefghijklmnop'

interface Request {
  readonly url: string
  readonly authorization: string
  readonly body: { readonly model: string; readonly input: readonly string[] }
}

/** A server that answers each request by the next of these, and by the last one from then on. */
async function server(...answers: readonly ((request: Request) => readonly [status: number, body: unknown])[]) {
  const requests: Request[] = []
  const http = createServer(async (incoming: IncomingMessage, answer) => {
    let text = ''
    for await (const chunk of incoming) text += chunk
    const request = { url: incoming.url ?? '', authorization: incoming.headers.authorization ?? '', body: JSON.parse(text) }
    requests.push(request)
    const [status, body] = (answers[Math.min(requests.length, answers.length) - 1] as (typeof answers)[number])(request)
    answer.writeHead(status, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  later(async () => {
    http.closeAllConnections()
    http.close()
  })
  return { baseUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, requests }
}

const good = ({ body }: Request): readonly [number, unknown] => [
  200,
  // In another order than asked, as the protocol allows.
  { data: body.input.map((text, index) => ({ index, embedding: [text.length, 1] })).reverse() },
]

const embedder = (embed: (texts: readonly string[]) => unknown, more: object = {}): NonNullable<StoreOptions['embedder']> =>
  ({ id: 'm', dimensions: 2, version: '7', embed, ...more }) as never

describe.each(engines)('an embedder on $name', ({ open }) => {
  test('documents without a vector are embedded, in batches, and keep the mark of the model', async () => {
    const sizes: number[] = []
    const embed = async (texts: readonly string[]) => {
      sizes.push(texts.length)
      return texts.map((text) => [text.length, 1])
    }
    const store = await open({ embedder: embedder(embed, { batch: 3 }) })
    const docs = store.vectors('docs', { dimensions: 2, metric: 'euclidean' })
    await docs.upsert([1, 2, 3, 4, 5].map((n) => ({ id: `${n}`, content: 'x'.repeat(n) })))
    expect(sizes).toEqual([3, 2])
    expect(await docs.get('4')).toEqual({ id: '4', content: 'xxxx', vector: [4, 1], embedder: { id: 'm', dimensions: 2, version: '7' } })
    expect((await docs.search('yyy', { top: 1 }))[0]?.id).toBe('3')
    expect(await codeOf(store.vectors('other', { dimensions: 3 }).upsert({ id: 'a', content: 'x' }))).toBe('VECTOR_INVALID')
    await expectSound(store)
  })

  test('an embedder that hangs, throws or returns the wrong shape is a typed error, and nothing is stored', async () => {
    const answers: readonly [string, (texts: readonly string[]) => unknown][] = [
      ['did not answer within 20 ms', () => new Promise(() => {})],
      ['out of order', () => Promise.reject(new Error('out of order'))],
      ['list of vectors', () => 'text'],
      ['1 vectors for 2 texts', () => [[1, 2]]],
      ['expected 2 numbers, got 1', () => [[1], [1]]],
      [
        'NaN',
        () => [
          [1, 2],
          [Number.NaN, 1],
        ],
      ],
      [
        'zeros',
        () => [
          [1, 2],
          [0, 0],
        ],
      ],
      ['expected a list', () => [[1, 2], undefined]],
    ]
    for (const [why, embed] of answers) {
      const store = await open({ embedder: embedder(embed, { timeout: 20 }) })
      const { seq } = await store.head()
      const docs = store.vectors('docs', { dimensions: 2 })
      const two = ['a', 'b'].map((id) => ({ id, content: id }))
      await expect(docs.upsert(two), why).rejects.toMatchObject({ code: 'EMBEDDER_FAILED', details: { why: expect.stringContaining(why) } })
      expect((await store.head()).seq).toBe(seq)
      await store.close()
    }
    const store = await open()
    expect(await codeOf(store.vectors('docs', { dimensions: 2 }).upsert({ id: 'a', content: 'x' }))).toBe('EMBEDDER_MISSING')
    expect(await codeOf(store.vectors('docs', { dimensions: 2 }).search('x'))).toBe('EMBEDDER_MISSING')
  })
})

test('the hash embedding is the same everywhere and for ever, has unit length, and is nearer for texts that share words', async () => {
  const store = await openIn(':memory:', { embedder: 'hash', airGapped: true })
  const docs = store.vectors('docs', { dimensions: 64 })
  await docs.upsert([
    { id: 'units', content: 'Ada prefers metric units' },
    { id: 'tea', content: 'The kettle is in the kitchen' },
    { id: 'none', content: '!?' },
  ])
  expect((await docs.get('units'))?.embedder).toEqual({ id: 'hash-embedding-v1', dimensions: 64, version: '1' })
  expect((await docs.search('ada PREFERS metric-units'))[0]).toMatchObject({ id: 'units', score: expect.closeTo(1, 6) })
  for (const text of ['', '!?', 'x', 'Ada prefers metric units']) expect(Math.hypot(...hashEmbedding(text))).toBeCloseTo(1, 6)
  // Another vector would be another model: the stored ones would no longer fit.
  expect(Array.from(hashEmbedding('Ada prefers metric units').slice(0, 8), (value) => Math.round(value * 1e4))).toMatchInlineSnapshot(`
    [
      880,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
    ]
  `)
})

test('the local model embeds in a thread of its own', async () => {
  const store = await openIn(':memory:', { embedder: 'local', airGapped: true })
  const docs = store.vectors('docs', { dimensions: 512 })
  await docs.upsert([
    { id: 'cat', content: 'The cat sleeps on the sofa.' },
    { id: 'tax', content: 'Income tax is due in May.' },
  ])
  expect((await docs.search('a kitten is napping', { top: 1 }))[0]?.id).toBe('cat')
})

test('a server is asked with the key, in batches, and answers in any order', async () => {
  const { baseUrl, requests } = await server(good)
  const store = await openIn(':memory:', { embedder: { kind: 'openai', baseUrl, model: 'small', key: KEY, batch: 2 } })
  const docs = store.vectors('docs', { dimensions: 2 })
  await docs.upsert(['a', 'bb', 'ccc'].map((id) => ({ id, content: id })))
  expect((await docs.get('bb'))?.vector).toEqual([2, 1])
  expect((await docs.get('ccc'))?.embedder).toEqual({ id: 'small', dimensions: 2, version: '1' })
  expect(requests.map(({ url, authorization, body }) => [url, authorization, body.model, body.input])).toEqual([
    ['/v1/embeddings', `Bearer ${KEY}`, 'small', ['a', 'bb']],
    ['/v1/embeddings', `Bearer ${KEY}`, 'small', ['ccc']],
  ])
})

test('a server that fails for a moment is asked again, one that refuses is not, and the key stands in no error', async () => {
  const busy = () => [503, 'busy'] as const
  const recovering = await server(busy, busy, good)
  const told: string[] = []
  const logger = { warn: (...given: unknown[]) => told.push(JSON.stringify(given)) }
  const kind = 'openai'
  const store = await openIn(':memory:', { logger, embedder: { kind, baseUrl: `${recovering.baseUrl}/v1/`, model: 'm', key: KEY } })
  await store.vectors('docs', { dimensions: 2 }).upsert({ id: 'a', content: 'x' })
  expect(recovering.requests).toHaveLength(3)
  // Only the beginning of an answer is repeated, so the key may stand where it is cut.
  const cut = '-'.repeat(170)
  const refusing = await server(({ authorization }) => [401, `wrong key ${cut} ${authorization} ${authorization}`])
  const other = await openIn(':memory:', { logger, redact: false, embedder: { kind, baseUrl: refusing.baseUrl, model: 'm', key: KEY } })
  const error = await other
    .vectors('docs', { dimensions: 2 })
    .upsert({ id: 'a', content: 'x' })
    .catch((e) => e)
  expect(error).toMatchObject({ code: 'EMBEDDER_FAILED', details: { why: expect.stringContaining('401') } })
  expect(`${error.message} ${JSON.stringify(error)} ${error.cause} ${told}`).not.toContain(KEY.slice(0, 7))
  expect(refusing.requests).toHaveLength(1)
})

test('an answer that breaks off is asked for again, and a wrong first answer does not fix the size of vectors', async () => {
  let requests = 0
  const http = createServer((incoming, answer) => {
    incoming.resume()
    const bodies = [undefined, { data: [{ embedding: 'AAAA' }] }, { data: [{ embedding: [1, 2] }] }]
    const body = bodies[requests++]
    if (body) answer.end(JSON.stringify(body))
    else answer.writeHead(200, { 'content-length': '1000' }).write('{', () => incoming.socket.destroy())
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  later(() => http.close())
  const baseUrl = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const store = await openIn(':memory:', { embedder: { kind: 'openai', baseUrl, model: 'm' } })
  const docs = store.vectors('docs', { dimensions: 2 })
  expect(await codeOf(docs.upsert({ id: 'a', content: 'x' }))).toBe('EMBEDDER_FAILED')
  expect(requests, 'the broken answer and the wrong one').toBe(2)
  await docs.upsert({ id: 'a', content: 'x' })
  expect((await docs.get('a'))?.vector).toEqual([1, 2])
})

test('a text that a server refuses does not hide the size of vectors', async () => {
  const { baseUrl } = await server((request) =>
    request.body.input.some((text) => text.includes('long')) ? [400, 'too long'] : good(request),
  )
  const store = await openIn(':memory:', { embedder: { kind: 'openai', baseUrl, model: 'm' } })
  for (const text of ['a long note', 'a note']) await store.memory.remember(text)
  expect(await store.memory.backfill()).toEqual({ embedded: 1, pending: 1, removed: 0, reason: 'the server answered 400 too long' })
})

test('a question that its caller gives up is ABORTED, and is no failure of the server', async () => {
  let given: AbortController | undefined
  let requests = 0
  const http = createServer((incoming, answer) => {
    incoming.resume()
    if (++requests > 1 && given) given.abort()
    else answer.end(JSON.stringify({ data: [{ embedding: [1, 2] }] }))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  later(() => {
    http.closeAllConnections()
    http.close()
  })
  const baseUrl = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const store = await openIn(':memory:', { embedder: { kind: 'openai', baseUrl, model: 'm', dimensions: 2 } })
  await store.memory.remember('Bob has a puppy')
  await store.memory.backfill()
  for (let i = 0; i < 6; i++) {
    given = new AbortController()
    expect(await codeOf(store.memory.recall('puppy', { signal: given.signal }))).toBe('ABORTED')
  }
  given = undefined
  const hits = await store.memory.recall('puppy')
  expect([hits.legs, hits.degraded]).toEqual([['words', 'vectors'], undefined])
})

test.each(['local', 'hangs'])('a text that is being embedded when the store closes is STORE_CLOSED: %s', async (how) => {
  const started = Promise.withResolvers<void>()
  const hangs = embedder(() => {
    started.resolve()
    return new Promise(() => {})
  })
  const store = await openIn(':memory:', { embedder: how === 'local' ? 'local' : hangs })
  const docs = store.vectors('docs', { dimensions: 512 })
  if (how === 'local') await docs.upsert({ id: 'a', content: 'x' })
  const asked = Promise.all([codeOf(docs.upsert({ id: 'b', content: 'y' })), codeOf(docs.search('z'))])
  if (how === 'hangs') await started.promise
  await store.close()
  expect(await asked).toEqual(['STORE_CLOSED', 'STORE_CLOSED'])
})

test('after five failures in a row requests pause, and one request after the pause ends it', async () => {
  let now = 0
  const failing = await server(...Array.from({ length: 6 }, () => () => [500, ''] as const), good)
  const timer = { after: async () => {}, idly: async () => {}, soon: (callback: () => void) => callback() }
  const clock = { now: () => now, monotonic: () => now }
  const made = openAiEmbedder({ kind: 'openai', baseUrl: failing.baseUrl, model: 'm', attempts: 1 }, { clock, timer })
  const ask = () =>
    made.embed(['x'], new AbortController().signal).then(
      () => 'answered',
      (error: Error) => error.message,
    )
  for (let i = 0; i < 5; i++) expect(await ask()).toContain('500')
  expect(await ask()).toContain('paused')
  expect(failing.requests).toHaveLength(5)
  now = 30_000
  expect(await ask()).toContain('500')
  expect(await ask(), 'the pause begins again').toContain('paused')
  now = 60_000
  expect([await ask(), await ask(), failing.requests.length]).toEqual(['answered', 'answered', 8])
})

test('an embedder that cannot work is refused when the store opens', async () => {
  const openai = { kind: 'openai', baseUrl: 'http://127.0.0.1:1', model: 'm' } as const
  const refused: readonly [unknown, object?][] = [
    ['neural'],
    [7],
    [{}],
    [{ kind: 'hash', size: 3 }],
    [embedder(() => [], { id: '' })],
    [embedder(() => [], { dimensions: 0 })],
    [embedder(() => [], { mispelt: 1 })],
    [embedder(() => [], { network: true }), { airGapped: true }],
    [openai, { airGapped: true }],
    [{ ...openai, baseUrl: 'ftp://x' }],
    [{ ...openai, baseUrl: `http://user:${KEY}@x` }],
    [{ ...openai, key: 'two words' }],
    [{ ...openai, apiKey: KEY }],
  ]
  for (const [given, more] of refused) {
    const error = await openIn(':memory:', { embedder: given as never, ...more }).catch((e) => e)
    expect(error, JSON.stringify(given)).toMatchObject({ code: 'OPTION_INVALID' })
    expect(error.message).not.toContain(KEY)
  }
})
