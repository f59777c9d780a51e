// Where promises are usually broken: things that happen meanwhile, callers who change their mind, clocks and logs that misbehave.

import { describe, expect, test } from 'vitest'
import { codeOf, expectSound, layouts } from '../../../test/support/engines.ts'
import type { Event } from '../../index.ts'

const collect = async (events: AsyncIterable<Event>): Promise<Event[]> => {
  const all: Event[] = []
  for await (const e of events) all.push(e)
  return all
}

describe.each(layouts)('on $name', (engine) => {
  test('a tail that waits is let go by return()', async () => {
    const store = await engine.open()
    const tail = store.events({ live: true })
    const pending = tail.next()
    await tail.return()
    expect(await pending).toEqual({ done: true, value: undefined })
  })

  test('others run while a long journal is read, and an abort is heard', async () => {
    const store = await engine.open()
    for (let i = 0; i < 3; i++) await store.appendAll(Array.from({ length: 1000 }, (_, n) => ({ type: 'a.b', data: n })))
    let ticks = 0
    const ticking = setInterval(() => ticks++, 0)
    await collect(store.events())
    clearInterval(ticking)
    expect(ticks).toBeGreaterThan(0)
  })

  test('erasing while the journal is verified or a session deleted is no alarm', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await store.appendAll(Array.from({ length: 2047 }, (_, n) => ({ session: session.id, type: 'a.b', data: n })))
    let erasing: Promise<unknown> | undefined
    const report = await store.verify({
      progress: () => {
        erasing ??= store.erase({ seq: 2000, reason: 'meanwhile' })
      },
    })
    await erasing
    expect(report).toMatchObject({ intact: true })
    const [during] = await Promise.all([store.verify(), session.delete({ reason: 'meanwhile' })])
    expect(during).toMatchObject({ intact: true })
    await expectSound(store)
  })

  test('rows are put right while others write', async () => {
    const store = await engine.open()
    const session = await store.session('s', { title: 'right' })
    let writing = true
    const writer = (async () => {
      while (writing) await session.append('a.b', 1)
    })()
    expect(await store.rebuild()).toMatchObject({ equal: true })
    writing = false
    await writer
    await expectSound(store)
  })

  test('recent() of a tenant shows what was just written, and what was there', async () => {
    const store = await engine.open()
    const acme = store.tenant('acme')
    const session = await acme.session('s')
    const receipt = await session.append('a.b', 1)
    expect(acme.recent().at(-1)?.seq).toBe(receipt.seq)
    for (let i = 0; i < 100; i++) store.tenant(`t${i}`)
    await expect.poll(() => acme.recent().map((e) => e.seq)).toEqual([1, 2])
  })

  test('health is degraded by a share of slow writes within a minute, and not by one', async () => {
    let [time, slow] = [0, 0]
    const store = await engine.open({ clock: { now: () => 1000, monotonic: () => (time += slow) } })
    const session = await store.session('s')
    for (let i = 0; i < 40; i++) await session.append('a.b', i)
    slow = 30
    for (let i = 0; i < 4; i++) await session.append('a.b', i)
    slow = 0
    expect(await store.health()).toMatchObject({ status: 'ok', ready: true, why: [] })
    slow = 30
    await session.append('a.b', 5)
    slow = 0
    // Five of 46 writes are more than a tenth, and as many as count.
    const { status, ready, why } = await store.health()
    expect([status, ready]).toEqual(['degraded', true])
    expect(why.join()).toMatch(/^5 of 46 writes within the last minute took longer than 25 ms \(the last took \d+ ms: mask/)
    for (let i = 0; i < 10; i++) await session.append('a.b', i)
    expect((await store.health()).status).toBe('ok')
    expect(store.stats().budget.lastMinute).toEqual({ writes: 56, breaches: 5 })
    time += 60_000
    expect(store.stats().budget.lastMinute).toEqual({ writes: 0, breaches: 0 })
    await store.close()
    expect(await store.health()).toMatchObject({ status: 'degraded', ready: false })
  })

  test('neither the reason of an erasure nor a log line carries a secret', async () => {
    const lines: unknown[] = []
    const said = (message: string, details?: unknown) => lines.push(message, details)
    const store = await engine.open({ logger: { warn: said, error: said }, clock: { now: () => 1000, monotonic: () => performance.now() } })
    const session = await store.session('s')
    const { seq } = await session.append('a.b', 1)
    await store.erase({ seq, reason: 'asked by password=hunter2-canary' })
    expect(JSON.stringify(await collect(store.events()))).not.toContain('hunter2-canary')
    for (const refused of [
      session.append('sk-ant-api03-hunter2canaryhunter2canary', 1),
      session.append('a.b', { 'postgres://u:hunter2canary@h/db': Number.NaN }),
    ]) {
      await expect(refused).rejects.toMatchObject({ message: expect.not.stringContaining('hunter2canary@') })
    }
  })

  test('a session that was opened under a chance seen before is another session', async () => {
    const entropy = { bytes: (count: number) => new Uint8Array(count).fill(7) }
    const store = await engine.open({ entropy, clock: { now: () => 1000 }, redactKey: 'a key of its own' })
    const [a, b] = [await store.session('a'), await store.session('b')]
    expect(a.id).not.toBe(b.id)
    expect(b.key).toBe('b')
  })

  test('a clock or a chance that cannot be used is refused before anything is written', async () => {
    for (const now of [Number.NaN, 2 ** 53, -5, 1.5, '1700000000000' as never, undefined as never]) {
      let answer = 1000
      const opened = engine.open({ clock: { now: () => answer } })
      const store = await opened
      const session = await store.session('s')
      answer = now
      expect(await codeOf(session.append('a.b', 1))).toBe('OPTION_INVALID')
      answer = 1000
      expect((await store.verify()).events).toBe(1)
    }
    const short = engine.open({ entropy: { bytes: () => new Uint8Array(3) } }).then((store) => store.session('s'))
    expect(await codeOf(short)).toBe('OPTION_INVALID')
  })

  test('a log that fails does not fail a write', async () => {
    const warn = () => {
      throw new Error('logger!')
    }
    let slow = 0
    const store = await engine.open({ logger: { warn }, clock: { now: () => 1000, monotonic: () => (slow += 30) } })
    await (await store.session('s')).append('a.b', 1)
    expect((await store.verify()).events).toBe(2)
  })

  test('an object that the caller changes after the call is written as it was', async () => {
    const store = await engine.open()
    // The second key has the shape of an id, so a session with that id is looked for first.
    const opened = ['s', '01ARZ3NDEKTSV4RRFFQ69G5FAV'].map(async (key) => {
      const metadata: Record<string, unknown> = { a: 1 }
      const opening = store.session(key, { metadata: metadata as never })
      metadata.a = 'x'.repeat(40_000)
      return opening
    })
    const sessions = await Promise.all(opened)
    for (const { metadata } of sessions) expect(metadata).toEqual({ a: 1 })
    const session = sessions[0] as (typeof sessions)[number]
    for (const refused of [session.rename(5 as never), session.describe(5 as never)]) expect(await codeOf(refused)).toBe('OPTION_INVALID')
    for (const relation of [5, { session: 'garbage', kind: 'fork' }, { session: session.id, kind: 5 }]) {
      expect(['SESSION_UNKNOWN', 'ID_INVALID', 'OPTION_INVALID']).toContain(
        await codeOf(store.session('t', { relation: relation as never })),
      )
    }
  })

  test('one commit has a bound of bytes', async () => {
    const store = await engine.open({ redact: false })
    const large = Array.from({ length: 80 }, () => ({ type: 'a.b', data: 'x'.repeat(250_000) }))
    expect(await codeOf(store.appendAll(large))).toBe('COMMIT_TOO_LARGE')
    expect((await store.head()).seq).toBe(0)
  })

  test('a receipt without a hash is no receipt', async () => {
    const store = await engine.open()
    await store.session('s')
    for (const hash of [undefined, '', 'abc', 5])
      expect(await codeOf(store.verify({ receipts: [{ tenant: 'main', seq: 1, hash }] as never }))).toBe('OPTION_INVALID')
    for (const receipts of [null, {}, 'abc', [null], [[]]])
      expect(await codeOf(store.verify({ receipts } as never)), JSON.stringify(receipts)).toBe('OPTION_INVALID')
  })

  test('a payload that is erased during a rebuild stays erased', async () => {
    const store = await engine.open()
    await store.session('a', { title: 'Jane Q Doe' })
    await store.appendAll(Array.from({ length: 2000 }, (_, n) => ({ type: 'a.b', data: n })))
    let erasing: Promise<unknown> | undefined
    await store.rebuild({
      progress: () => {
        erasing ??= store.erase({ seq: 1, reason: 'meanwhile' })
      },
    })
    await erasing
    expect(JSON.stringify((await store.sessions.list({ summary: true })).items)).not.toContain('Jane')
    await expectSound(store)
  })

  test('a getter cannot slip a reserved type or another payload past the check', async () => {
    const store = await engine.open()
    let asked = 0
    const sly = {
      get type() {
        return ++asked > 1 ? 'payload.erased' : 'x.y'
      },
      data: { seqs: [[1, 1]], reason: 'x' },
    }
    await store.appendAll([sly])
    expect((await collect(store.events())).map((e) => e.type)).toEqual(['x.y'])
    let read = 0
    const data = {
      get a() {
        return ++read > 1 ? 'second' : 'first'
      },
    }
    const first = await store.appendAll([{ type: 'a.b', data }], { key: 'k' })
    expect((await collect(store.events({ types: ['a.b'] })))[0]?.data).toEqual({ a: 'first' })
    expect(await store.appendAll([{ type: 'a.b', data: { a: 'first' } }], { key: 'k' })).toEqual(first)
  })

  test('the bound of bytes holds for a keyed commit too', async () => {
    const store = await engine.open({ redact: false })
    const large = Array.from({ length: 80 }, () => ({ type: 'a.b', data: 'x'.repeat(250_000) }))
    expect(await codeOf(store.appendAll(large, { key: 'k' }))).toBe('COMMIT_TOO_LARGE')
  })

  test('a clock that fails after the commit does not unsay it', async () => {
    let calls = 0
    let bad = Infinity
    const store = await engine.open({
      clock: {
        now: () => {
          calls++
          return calls === bad ? Number.NaN : 1000
        },
      },
    })
    const session = await store.session('s')
    for (let after = 1; after <= 6; after++) {
      const before = (await store.head()).seq
      bad = calls + after
      const saved = await session.append('a.b', after).then(
        () => true,
        () => false,
      )
      bad = Infinity
      expect((await store.head()).seq).toBe(saved ? before + 1 : before)
    }
  })

  test('no refusal repeats a secret, and no actor is one', async () => {
    const store = await engine.open()
    const secret = 'postgres://u:hunter2hunter2@h/db'
    const refusals = [
      () => store.tenant(secret),
      () => store.runs.get(secret),
      () => store.page({ types: [secret] }),
      () => store.page({ run: secret as never }),
      () => store.verify({ receipts: [{ tenant: secret, seq: 1, hash: 'a'.repeat(64) } as never] }),
      () => store.as(secret),
    ]
    for (const refused of refusals) {
      const error = await (async () => refused())().then(
        () => undefined,
        (e) => e,
      )
      expect(error?.code).toMatch(/_INVALID$/)
      expect(`${error.message} ${JSON.stringify(error.details)}`).not.toContain('hunter2')
    }
  })

  test('a log line carries no secret', async () => {
    const { memoryBackend } = await import('../../backends/memory/backend.ts')
    const { nodeEnvironment } = await import('../../environment.ts')
    const { open } = await import('../../index.ts')
    const lines: unknown[] = []
    const real = memoryBackend(nodeEnvironment)
    let lost = true
    const backend = {
      ...real,
      commit: async (batch: Parameters<typeof real.commit>[0]) => {
        const outcomes = await real.commit(batch)
        if (!lost) return outcomes
        lost = false
        throw new Error('cannot reach postgres://u:hunter2hunter2@h/db')
      },
    }
    const store = await open({ backend, logger: { warn: (...said) => lines.push(said) } })
    await store.session('s')
    expect(lines.length).toBeGreaterThan(0)
    expect(JSON.stringify(lines)).not.toContain('hunter2')
    await store.close()
  })
})
