// An object of the caller that throws when it is read is refused with a typed error, wherever it is given, and nothing is written.

import { describe, expect, test } from 'vitest'
import { codeOf, engines } from './support/engines.ts'

const boom = (): never => {
  throw new Error('boom')
}

const blob = (): never =>
  ({
    get digest() {
      return boom()
    },
    bytes: 1,
  }) as never

const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] }

/** The message, one member of which throws. */
const throwing = (member: string): never =>
  new Proxy(message, { get: (target, name) => (name === member ? boom() : Reflect.get(target, name)) }) as never

const part = (): never =>
  ({
    ...message,
    parts: [
      {
        get type() {
          return boom()
        },
      },
    ],
  }) as never

const list = (): never => new Proxy([], { get: boom }) as never

describe.each(engines)('on $name', (engine) => {
  test('an object that throws when it is read is refused, and nothing is written', async () => {
    const store = await engine.open({})
    const session = await store.session('s')
    const { seq } = await store.head()
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      'blobs.get': () => store.blobs.get(blob()),
      'blobs.stream': async () => store.blobs.stream(blob())[Symbol.asyncIterator]().next(),
      pin: () => store.pin(blob()),
      unpin: () => store.unpin(blob()),
      refs: () => session.append('a.b', 1, { refs: [blob()] }),
      'thread.add': () => session.thread.add([throwing('parts')]),
      'thread.add of an id': () => session.thread.add([throwing('id')]),
      'thread.add of a part': () => session.thread.add([part()]),
      'thread.add of a list': () => session.thread.add(list()),
      'thread.import': () => session.thread.import([throwing('parts')]),
      'thread.import of a list': () => session.thread.import(list()),
      commitTurn: () => session.commitTurn({ turn: 't', messages: [throwing('parts')] }),
      'commitTurn of a part': () => session.commitTurn({ turn: 't', messages: [part()] }),
    }
    const codes = await Promise.all(Object.entries(calls).map(async ([name, call]) => [name, await codeOf((async () => call())())]))
    expect(codes.filter(([, code]) => code !== 'OPTION_INVALID' && code !== 'DATA_INVALID')).toEqual([])
    expect((await store.head()).seq).toBe(seq)
  })
})
