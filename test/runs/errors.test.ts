// What a handler threw is kept with its stack and its causes: masked, bounded, and read wherever somebody looks for it.

import { describe, expect, test } from 'vitest'
import { type ErrorData, FinalError, type InkError, type Run, type Store } from '../../src/index.ts'
import { limits } from '../../src/model/limits.ts'
import { engines, expectSound } from '../support/engines.ts'

const SECRET = `sk-ant-api03-${'a1B2c3D4e5F6'.repeat(8)}`

function chargeCard(): never {
  const refused = new TypeError(`the key ${SECRET} was refused`)
  throw new Error('the card was not charged', { cause: new Error('the bank did not answer', { cause: refused }) })
}

const chainOf = (error: ErrorData | undefined): readonly ErrorData[] => (error ? [error, ...chainOf(error.cause)] : [])
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** The error of a run whose handler throws this. */
async function errorOf(store: Store, thrown: () => unknown): Promise<ErrorData> {
  await using _ = store.work({
    fails: async () => {
      throw thrown()
    },
  })
  const run = await store.start('fails', { session: 's', key: String(Math.random()) })
  await run.result().catch(() => {})
  return (await store.runs.get(run.id))?.error as ErrorData
}

describe.each(engines)('errors of handlers on $name', (engine) => {
  test('the row of a failed run has its name, message, stack and causes, without secrets', async () => {
    const store = await engine.open()
    await using _ = store.work({ charge: async () => chargeCard() })
    const run = await store.start('charge', { session: 's' })
    await expect(run.result()).rejects.toMatchObject({ code: 'RUN_FAILED' })
    const error = (await store.runs.get(run.id))?.error
    expect(chainOf(error).map(({ name, message }) => [name, message.replace(/\[.*\]|‹.*›/, '…').slice(0, 30)])).toEqual([
      ['Error', 'the card was not charged'],
      ['Error', 'the bank did not answer'],
      ['TypeError', expect.stringMatching(/^the key /)],
    ])
    for (const { stack, message } of chainOf(error)) {
      expect(stack).toContain('chargeCard')
      expect(stack).toContain(message)
      expect(stack).toContain('errors.test.ts')
    }
    expect(JSON.stringify(error)).not.toContain(SECRET.slice(13, 40))
    await expectSound(store)
  })

  test('a thrown object is kept as JSON, and a refused connection says why, without secrets', async () => {
    const store = await engine.open()
    const limit = await errorOf(store, () => ({ status: 429, error: 'rate limited', password: SECRET }))
    expect(limit.message).toMatch(/^\{"status":429,"error":"rate limited","password":"\[redacted/)
    const refused = await errorOf(store, () => new AggregateError([new Error('connect ECONNREFUSED ::1:1'), new Error('and 127.0.0.1')]))
    expect(refused).toMatchObject({ message: 'connect ECONNREFUSED ::1:1', cause: { message: 'connect ECONNREFUSED ::1:1' } })
    const caused = await errorOf(store, () => new Error('no', { cause: { status: 503 } }))
    expect(caused).toMatchObject({ message: 'no', cause: { message: '{"status":503}' } })
  })

  test('the result of a failed run rejects with the chain of causes', async () => {
    const store = await engine.open()
    await using _ = store.work({ charge: async () => chargeCard() })
    const failed = (await (await store.start('charge', { session: 's' })).result().catch((error) => error)) as InkError
    expect(failed.code).toBe('RUN_FAILED')
    const cause = failed.cause as Error
    expect(cause).toBeInstanceOf(Error)
    expect([cause.name, cause.message]).toEqual(['Error', 'the card was not charged'])
    expect(cause.stack).toContain('chargeCard')
    const last = (cause.cause as Error).cause as Error
    expect([last.name, last.cause]).toEqual(['TypeError', undefined])
    expect(failed.details.error).toEqual({ name: 'Error', message: 'the card was not charged' })
  })

  test('the error of an effect and of a child keep what caused them', async () => {
    const store = await engine.open()
    await using _ = store.work({
      parent: async (run: Run) => (await run.child('child')).result(),
      child: async (run: Run) => run.effect('charge', () => chargeCard()),
    })
    const run = await store.start('parent', { session: 's' })
    await run.result().catch(() => {})
    const chain = chainOf((await store.runs.get(run.id))?.error)
    expect(chain.map(({ name, code }) => code ?? name)).toEqual(['RUN_FAILED', 'EFFECT_FAILED', 'Error', 'Error', 'TypeError'])
    expect(chain[2]?.stack).toContain('chargeCard')
  })

  test('the error of an effect hides the secrets of its stack, too, when the message was changed after the stack was taken', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('r')
    // The message stands inside the secret, and between a name and its value.
    for (const [first, message] of [
      ['the key sk-ant-api03-Zk3q8RwT5yUi9OpAsDfGhJkLzXcVbNm1Q2w3E4r5T6y7U8i9O0pAsDfGhJkLzXcVbNm1Q2w3E4r5T6y7U8-AAAAAAAA', '3'],
      ['password=Tr0ub4dor3xyz_Q9', 'password'],
    ] as const) {
      const failed = await run
        .effect(message, () => {
          const thrown = new Error(first)
          expect(thrown.stack).toContain(first)
          thrown.message = message
          throw thrown
        })
        .catch((error: InkError) => error.cause as Error)
      expect(failed.message).toBe(message)
      expect(failed.stack).toMatch(/\[redacted:[\s\S]*errors\.test\.ts/)
      expect(failed.stack).not.toMatch(/Zk3q8RwT5yUi|Tr0ub4dor/)
    }
  })

  test('replay gives the program the same error of an effect as the first time', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const seen: unknown[] = []
    for (const close of [true, false]) {
      const run = await session.run('r')
      await run
        .effect('charge', () => chargeCard())
        .catch((error: InkError) => {
          const cause = error.cause as Error
          seen.push([error.message, error.details, cause.name, cause.message, cause.stack])
        })
      await (close ? run.close() : run.finish())
    }
    expect(seen[1]).toEqual(seen[0])
    await expectSound(store)
  })

  test('a dead item, a failed process and a failed delivery keep the error with its causes', async () => {
    const store = await engine.open()
    const queue = store.queue('mail')
    await using _ = queue.work(() => chargeCard())
    const item = await queue.offer({}, { attempts: 1 })
    await expect.poll(async () => (await queue.get(item.id))?.state, { timeout: 20_000 }).toBe('dead')
    expect(chainOf((await queue.get(item.id))?.error).map(({ stack }) => stack?.includes('chargeCard'))).toEqual([true, true, true])

    await using __ = store.processes.work({
      charge: () => {
        throw new FinalError('gone', { cause: new Error('the host is away') })
      },
    })
    const child = await store.processes.register('charge/1', { kind: 'charge', recovery: 'rerunnable' })
    const ended = await child.result()
    expect(chainOf(ended.error).map(({ message }) => message)).toEqual(['gone', 'the host is away'])
    expect(ended.error?.stack).toContain('errors.test.ts')

    await store.triggers.on('paid', { source: 'stripe', queue: 'mail', attempts: 1 })
    await store.triggers.fire('stripe', { payload: { order: 1 } })
    const failed = async () => (await store.triggers.history({ trigger: 'paid' })).items[0]?.deliveries[0]?.error
    await expect.poll(async () => (await failed())?.cause?.message, { timeout: 20_000 }).toBe('the bank did not answer')
  })

  test('an error with a long chain, a cycle or huge texts is kept within its limits', async () => {
    const store = await engine.open()
    const deep = (n: number): Error => new Error(`level ${n}`, n > 50 ? undefined : { cause: deep(n + 1) })
    expect(chainOf(await errorOf(store, () => deep(0)))).toHaveLength(limits.errorCauses + 1)
    const ring = new Error('first')
    ring.cause = new Error('second', { cause: ring })
    expect(chainOf(await errorOf(store, () => ring)).map(({ message }) => message)).toEqual(['first', 'second'])
    const huge = (n: number): Error => new Error(`${n} ${'é'.repeat(100_000)}`, n > 20 ? undefined : { cause: huge(n + 1) })
    const kept = await errorOf(store, () => huge(0))
    expect(bytesOf(kept)).toBeLessThan(limits.errorBytes + 2 * limits.errorChars * 2)
    expect(kept.message).toHaveLength(limits.errorChars)
    // The frames stay, although the message alone is longer than the stack may be.
    expect(kept.stack).toContain('errors.test.ts')
    expect(chainOf(kept).length).toBeGreaterThan(1)
  })

  test('a handler may throw what throws when somebody looks at it', async () => {
    const store = await engine.open()
    const hostile = {
      get message(): string {
        throw new Error('no')
      },
      get stack(): string {
        throw new Error('no')
      },
      get cause(): unknown {
        return { ...hostileCause }
      },
      toString: () => {
        throw new Error('no')
      },
    }
    const hostileCause = Object.defineProperty({ name: 'Odd' }, 'cause', { enumerable: true, get: () => new Proxy({}, TRAPS) })
    const error = await errorOf(store, () => hostile)
    expect(error).toMatchObject({ name: 'Error', message: 'something that cannot be shown was thrown', cause: { name: 'Odd' } })
    expect(await errorOf(store, () => 'just a text')).toEqual({ name: 'Error', message: 'just a text' })
    expect(await errorOf(store, () => undefined)).toEqual({ name: 'Error', message: 'undefined' })
    expect(await errorOf(store, () => new Error('outer', { cause: 'a text' }))).toMatchObject({ cause: { message: 'a text' } })
  })

  test('a store with small payloads records a failure as well', async () => {
    const store = await engine.open({ payloadBytes: 4096 })
    const error = await errorOf(store, () => new Error('small', { cause: new Error('smaller') }))
    expect(error.message).toBe('small')
    expect(bytesOf(error)).toBeLessThan(4096)
  })
})

const TRAPS = {
  get: () => {
    throw new Error('trapped')
  },
}
