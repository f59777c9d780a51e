// One rule holds wherever a caller gives a value: members that are undefined are left out, a Date is its text, and what comes back is that.
// Everything else that is no JSON is refused there, and the refusal names the place.

import { inspect, isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { Run, Session, Store } from '../src/index.ts'
import { codeOf, engines, expectSound } from './support/engines.ts'

const given = () => ({ keep: null, gone: undefined, at: new Date(0), list: [{ gone: undefined, on: new Date(1) }] })
const STORED = { keep: null, at: '1970-01-01T00:00:00.000Z', list: [{ on: '1970-01-01T00:00:00.001Z' }] }

interface Places {
  readonly store: Store
  readonly session: Session
  readonly run: Run
  /** For ids and keys of its own. */
  readonly name: string
}

/** Gives the value to one call, and reads it back with another. */
type Place = (value: object, places: Places) => Promise<unknown>

const member = (of: unknown, name: string): unknown => (of as Readonly<Record<string, unknown>> | undefined)?.[name]

const PLACES: Readonly<Record<string, Place>> = {
  'the data of an event': async (value, { store, session }) => (await store.event((await session.append('a.b', value)).id))?.data,
  'data of several events': async (value, { store }) => {
    const [receipt] = await store.appendAll([{ type: 'a.b', data: value }])
    return (await store.event(receipt?.id as string))?.data
  },
  'the result of an effect': (value, { run, name }) => run.effect(name, () => value),
  'the result of an effect that is settled by hand': async (value, { run, name }) => {
    const half = await run.begin<object>(name)
    return half.done ? half.result : half.settle(value)
  },
  'the input of an effect': async (value, { run, name }) => {
    await run.effect(name, () => 1, { input: value })
    for await (const { data } of run.tape())
      if (member(data, 'name') === name) return member(member(member(data, 'input'), 'stored'), 'value')
  },
  'an event of a run': async (value, { store, run }) => (await store.event((await run.append('a.b', value)).id))?.data,
  'the input of a run': async (value, { session, name }) => (await session.run(name, { input: value, parallel: true })).input,
  'the result of a run': async (value, { session, name }) => {
    const run = await session.run(name, { parallel: true })
    await run.finish(value)
    return run.result
  },
  'a signal': async (value, { store, session, run, name }) => {
    await store.signal(session.id, name, value)
    return run.signal(name)
  },
  'an input of a turn': async (value, { session }) => member(await session.input(value), 'content') ?? value,
  'an item of the inbox': async (value, { session }) => {
    const { id } = await session.inbox.offer(value, { kind: 'turn', delivery: 'afterTurn' })
    return (await session.inbox.get(id))?.payload
  },
  'the payload of a work item': async (value, { store, name }) => {
    await store.queue(name).offer(value)
    return (await store.queue(name).claim())?.payload
  },
  'the payload of a cron job': async (value, { store, name }) => {
    await store.cron.set(name, { every: '1h', queue: name, payload: value })
    await store.cron.run(name)
    return (await store.queue(name).claim())?.payload
  },
  'the payload of a firing': async (value, { store, name }) => {
    await store.triggers.on(name, { source: name, queue: name })
    const { firing } = await store.triggers.fire(name, value)
    return (await store.triggers.firing(firing))?.payload
  },
  'what the items of a trigger carry': async (value, { store, name }) =>
    (await store.triggers.on(name, { source: name, queue: name, with: value })).with,
  'the data of a question': async (value, { store, name }) => (await store.approvals.request({ subject: name, data: value })).data,
  'the answer to a question': async (value, { store, name }) => {
    const { id } = await store.approvals.request({ subject: name })
    return (await store.approvals.decide(id, { decision: 'approve', value })).value
  },
  'the input of a process': async (value, { store, name }) =>
    (await store.processes.register(name, { kind: 'k', recovery: 'external', input: value })).input(),
  'an event of a process': async (value, { store, name }) =>
    (await (await store.processes.register(name, { kind: 'k', recovery: 'external' })).event('a.b', value)).data,
  'the value of a process': async (value, { store, name }) => {
    const process = await store.processes.register(name, { kind: 'k', recovery: 'external' })
    await process.complete(value)
    return (await process.result()).value
  },
  'an entry of the state': async (value, { store, name }) => {
    await store.state.set(name, value)
    return (await store.state.get(name))?.value
  },
  'an entry of several': async (value, { session, name }) => {
    await session.state.write([{ set: name, value }])
    return (await session.state.get(name))?.value
  },
  'a value': async (value, { store }) => store.values.get(await store.values.put(value)),
  'an item of a list': async (value, { store }) =>
    (await store.values.slice(await store.values.append(await store.values.put([]), [value]), 0))[0],
  'a snapshot': async (value, { store, session }) => {
    await store.snapshots.save(session.id, { state: value })
    return (await store.snapshots.load(session.id))?.state
  },
  'a component of a checkpoint': async (value, { session, name }) => {
    const run = await session.run(name, { parallel: true })
    await run.checkpoint({ memory: value })
    await run.close()
    return member(await (await session.run(name, { parallel: true })).restore(), 'memory')
  },
  'a node of a turn': async (value, { session, name }) => {
    await session.commitTurn({ turn: name, nodes: [{ id: name, parent: null, payload: value }] })
    return (await session.graph.node(name))?.payload
  },
  'an item that a turn offers': async (value, { store, session, name }) => {
    await session.commitTurn({ turn: name, enqueue: [{ payload: value, queue: name }] })
    return (await store.queue(name).claim())?.payload
  },
  'the metadata of a message': async (value, { session, name }) => {
    await session.thread.add({ id: name, role: 'user', parts: [{ type: 'text', text: 'x' }], metadata: value })
    return (await session.thread.get(name))?.metadata
  },
  'the record of a message': async (value, { session, name }) => {
    await session.thread.add({ id: name, role: 'user', parts: [{ type: 'text', text: 'x' }] })
    await session.thread.record(name, { statistics: value as Readonly<Record<string, unknown>> })
    return (await session.thread.record(name))?.statistics
  },
  'the data of a streamed part': async (value, { session, name }) => {
    await using stream = session.thread.stream(name)
    await stream.write({ type: 'data-thing', data: value })
    await stream.close()
    return member((await session.thread.get(name))?.parts[0], 'data')
  },
  'the document of a canvas': async (value, { session, name }) => {
    await session.canvas(name).replace(value)
    return (await session.canvas(name).get())?.document
  },
  'a patch of a canvas': async (value, { session, name }) => {
    await session.canvas(name).patch([{ op: 'add', path: '/a', value }])
    return member((await session.canvas(name).get())?.document, 'a')
  },
  'the metadata of a session': async (value, { store, name }) => (await store.session(name, { metadata: value })).metadata,
  'the metadata that describe a session': async (value, { session }) => {
    await session.describe(value)
    return session.metadata
  },
  'the metadata of a memory': async (value, { store, name }) => (await store.memory.remember(name, { metadata: value })).metadata,
  'the metadata of a memory of a run': async (value, { store, run, name }) =>
    (await store.memory.get((await run.remember(name, { metadata: value })).id))?.metadata,
  'the metadata of a document': async (value, { store, name }) => {
    const documents = store.vectors(name, { dimensions: 1 })
    await documents.upsert({ id: 'd', vector: [1], metadata: value })
    return (await documents.get('d'))?.metadata
  },
  'an environment': async (value, { store }) => store.artifacts.getEnvironment(await store.artifacts.putEnvironment(value)),
}

describe.each(engines)('values given to a store on $name', (engine) => {
  test('leave out members that are undefined, and have dates as texts', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    const wrong: string[] = []
    for (const [i, [place, give]] of Object.entries(PLACES).entries()) {
      const back = await give(given(), { store, session, run, name: `n${i}` })
      // A member that is undefined is not the same as none. Some places sort members by name.
      if (!isDeepStrictEqual(back, STORED)) wrong.push(`${place}: ${inspect(back)}`)
    }
    expect(wrong).toEqual([])
    await expectSound(store)
  })

  test('are refused with their place if JSON would change them', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const wrong: string[] = []
    for (const [i, [place, give]] of Object.entries(PLACES).entries()) {
      // A result that cannot be stored ends its run.
      const run = await session.run(`r${i}`, { parallel: true })
      for (const [j, bad] of [[undefined], new Map(), Number.NaN, new Date(Number.NaN), () => 1].entries()) {
        const refused = await give({ a: { bad } }, { store, session, run, name: `m${i}-${j}` }).then(
          () => 'no error',
          (error: Error) => error.message,
        )
        if (!refused.includes('a.bad') && !refused.includes('value contains')) wrong.push(`${place}: ${refused}`)
      }
      await run.close()
    }
    expect(wrong).toEqual([])
    expect(await codeOf(session.append('a.b', undefined))).toBe('DATA_INVALID')
  })
})
