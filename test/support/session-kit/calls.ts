// Every call of a session, one line each. What a session must do when it is archived, deleted, forked or foreign is tried with each of them;
// a member without a line fails. Calls that add come first, those that remove come last: in an open session all of them succeed in this order.

import type { Run, Session, StandardSchemaV1 } from '../../../src/index.ts'
import { type Known, said } from './fill.ts'

export interface Call {
  /** `reads`: writes nothing. `adds`: makes something under a name or id that the session itself gives. `changes`: needs something that is there. */
  readonly does: 'reads' | 'adds' | 'changes'
  readonly call: (session: Session, known: Known) => unknown
  /** Why it is not refused in an archived session. Only a write says so: reads are never refused there. */
  readonly archived?: string
  /** Why it is not refused in a deleted session. */
  readonly deleted?: string
  /** For a read: why a fork does not begin with what its source had at the fork point. */
  readonly forked?: string
}

type Reasons = Omit<Call, 'does' | 'call'>
const verb =
  (does: Call['does']) =>
  (call: Call['call'], reasons: Reasons = {}): Call => ({ does, call, ...reasons })
const reads = verb('reads')
const adds = verb('adds')
const changes = verb('changes')

const anything: StandardSchemaV1<string> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as string }) },
}
const entry = (session: Session, { key }: Known) => session.state.entry(key, { value: anything })

const first = async <T>(items: AsyncIterable<T>): Promise<T | undefined> => {
  for await (const item of items) return item
  return undefined
}

const HANDLE = { deleted: 'a handle is made without a look', forked: 'it says its name only' }
const OWN = 'it changes the session itself'
const OVER = 'it takes back what waits, which an archived session must not keep for ever'
const CLEARS = 'it removes what nobody reads, and adds nothing'
const CANCELLED = 'what was offered stays, as cancelled and without its content'
const ASKED_ONCE = 'what was offered to the source is answered there'

export const calls: Readonly<Record<string, Call>> = {
  'thread.get': reads((session, { message }) => session.thread.get(message)),
  'thread.messages': reads((session) => session.thread.messages()),
  'thread.messages, around one': reads((session, { spare }) => session.thread.messages({ before: spare })),
  'thread.record': reads((session, { message }) => session.thread.record(message)),
  'thread.info': reads((session) => session.thread.info()),
  'threads.get': reads((session, { thread }) => session.threads.get(thread)),
  'threads.list': reads((session) => session.threads.list()),
  'state.get': reads((session, { key }) => session.state.get(key)),
  'state.exists': reads((session, { key }) => session.state.exists(key)),
  'state.list': reads((session) => session.state.list()),
  'state.entry().get': reads((session, known) => entry(session, known).get()),
  'state.entry().exists': reads((session, known) => entry(session, known).exists()),
  head: reads((session) => session.head()),
  checkpoint: reads((session) => session.checkpoint()),
  'frames.list': reads((session) => session.frames.list()),
  'graph.list': reads((session) => session.graph.list()),
  'graph.path': reads((session, { leaf }) => session.graph.path({ leaf })),
  'graph.node': reads((session, { node }) => session.graph.node(node)),
  'graph.children': reads((session, { node }) => session.graph.children(node)),
  'graph.window': reads((session, { leaf }) => session.graph.window(leaf)),
  'inputs.list': reads((session) => session.inputs.list(), { deleted: CANCELLED, forked: ASKED_ONCE }),
  'inputs.get': reads((session, { input }) => session.inputs.get(input), { deleted: CANCELLED, forked: ASKED_ONCE }),
  'inbox.list': reads((session) => session.inbox.list(), { deleted: CANCELLED, forked: ASKED_ONCE }),
  'inbox.get': reads((session, { item }) => session.inbox.get(item), { deleted: CANCELLED, forked: ASKED_ONCE }),
  'attachments.get': reads((session, { file }) => session.attachments.get(file)),
  'attachments.stat': reads((session, { file }) => session.attachments.stat(file)),
  'attachments.stream': reads((session, { file }) => session.attachments.stream(file)),
  'attachments.list': reads((session) => session.attachments.list()),
  'core.get': reads((session) => session.core.get()),
  'core.get, one block': reads((session, { block }) => session.core.get(block)),
  'core.history': reads((session, { block }) => session.core.history(block)),
  'canvas().get': reads((session, { canvas }) => session.canvas(canvas).get()),
  'canvas().at': reads((session, { canvas }) => session.canvas(canvas).at({ version: 2 })),
  'canvas().history': reads((session, { canvas }) => session.canvas(canvas).history(), {
    forked: 'a fork has the versions, and lists its own',
  }),
  'canvas().subscribe': reads((session, { canvas }) => first(session.canvas(canvas).subscribe()), { deleted: 'it ends with its session' }),
  canvases: reads((session) => session.canvases()),
  canvas: reads((session, { canvas }) => session.canvas(canvas), HANDLE),
  'state.entry': reads((session, known) => entry(session, known), HANDLE),
  toJSON: reads((session) => session.toJSON(), { deleted: 'the row as this handle last saw it' }),

  append: adds((session) => session.append('kit.noted', { note: 1 })),
  'thread.add': adds((session, { spare }) => session.thread.add(said('new message', 'x'), { parent: spare })),
  'thread.import': adds((session) => session.thread.import([said('imported', 'x')])),
  'thread.stream': adds(async (session) => {
    await using stream = session.thread.stream('streamed')
    await stream.write({ type: 'text-start', id: '1' })
    await stream.write({ type: 'text-delta', id: '1', delta: 'x' })
    await stream.write({ type: 'text-end', id: '1' })
  }),
  'threads.create': adds((session) => session.threads.create({ title: 'new' })),
  'state.set': adds((session) => session.state.set('new', 1)),
  'state.write': adds((session) => session.state.write([{ set: 'written', value: 1 }])),
  'state.entry().set': adds((session, known) => entry(session, { ...known, key: 'entered' }).set('x')),
  configure: adds((session) => session.configure({ model: 'kit' })),
  'frames.open': adds((session) => session.frames.open('new frame')),
  'attachments.put': adds((session) => session.attachments.put(Uint8Array.of(1))),
  commitTurn: adds((session, { leaf }) => session.commitTurn({ turn: 'new turn', nodes: [{ id: 'new node', parent: leaf, payload: 1 }] })),
  'commitTurn, an input and a claim': changes((session, { accepted, claim }) =>
    session.commitTurn({ turn: 'settled', inputs: [accepted], claims: [claim] }),
  ),
  'commitTurn, a leaf': changes((session, { branch }) => session.commitTurn({ turn: 'moved', leaf: branch })),
  'commitTurn, a file': changes((session, { file }) => session.commitTurn({ turn: 'with a file', attachments: [file] })),
  'commitTurn, a frame': changes((session, { frame }) =>
    session.commitTurn({ turn: 'in a frame', nodes: [{ id: 'in a frame', frame, payload: 1 }] }),
  ),
  input: adds((session) => session.input('new')),
  'inbox.offer': adds((session) => session.inbox.offer('new', { kind: 'turn', delivery: 'boundary' })),
  'core.set': adds((session) => session.core.set('human', 'Ada')),
  'core.append': adds((session) => session.core.append('human', 'x')),
  'canvas().patch': adds((session) => session.canvas('new canvas').patch([{ op: 'add', path: '/a', value: 1 }])),
  'canvas().replace': adds((session) => session.canvas('other canvas').replace({ a: 1 })),
  lease: adds(async (session) => (await session.lease()).release()),
  run: adds(async (session) => (await session.run('kit', { key: 'new run' })).close()),
  fork: adds(async (session) => session.fork({ at: (await session.append('kit.forked', {})).seq })),

  'input, to a run': changes((session, { run }) => session.input('x', { turn: run })),
  'thread.record, its second argument': changes((session, { message }) => session.thread.record(message, { finishReason: 'stop' })),
  'thread.update': changes((session, { message }) => session.thread.update(message, (one) => ({ ...one, metadata: { seen: true } }))),
  'thread.repair': changes((session) => session.thread.repair()),
  'thread.rename': changes((session) => session.thread.rename('another')),
  'threads.rename': changes((session, { thread }) => session.threads.rename(thread, 'another')),
  'frames.use': changes(async (session, { frame }) => {
    await session.frames.use(frame)
    await session.frames.use(null)
  }),
  'graph.moveTo': changes((session, { branch }) => session.graph.moveTo(branch)),
  'attachments.commit': changes((session, { looseFile }) => session.attachments.commit([looseFile])),
  'canvas().undo': changes((session, { canvas }) => session.canvas(canvas).undo()),
  'canvas().restore': changes((session, { canvas }) => session.canvas(canvas).restore(1)),
  'core.replace': changes((session, { block, mark }) => session.core.replace(block, mark, `${mark}, changed`)),
  rename: changes((session) => session.rename('another'), { archived: OWN }),
  describe: changes((session) => session.describe({ a: 1 }), { archived: OWN }),

  'state.delete': changes((session, { key }) => session.state.delete(key)),
  'state.entry().delete': changes((session, known) => entry(session, { ...known, key: known.spareKey }).delete()),
  'thread.remove': changes((session, { spare }) => session.thread.remove(spare)),
  'thread.erase': changes((session, { answer }) => session.thread.erase(answer, { reason: 'asked for' }), {
    archived: 'a person who asks for an erasure need not wait until somebody reopens the session',
  }),
  'threads.archive': changes((session, { thread }) => session.threads.archive(thread)),
  'threads.reopen': changes((session, { closedThread }) => session.threads.reopen(closedThread)),
  'threads.delete': changes((session, { thread }) => session.threads.delete(thread)),
  'thread.archive': changes((session) => session.thread.archive()),
  'thread.reopen': changes((session) => session.thread.reopen(), { archived: 'it is open, so there is nothing to write' }),
  'thread.delete': changes((session) => session.thread.delete()),
  'graph.remove': changes((session, { twig }) => session.graph.remove(twig)),
  'graph.vacuum': changes((session) => session.graph.vacuum(), { archived: CLEARS }),
  'attachments.forget': changes((session, { spareFile }) => session.attachments.forget(spareFile), { archived: CLEARS }),
  'inputs.cancel': changes((session, { input }) => session.inputs.cancel(input), { archived: OVER, deleted: CANCELLED }),
  'inputs.cancelFrom': changes((session, { spareInput }) => session.inputs.cancelFrom(spareInput), { archived: OVER, deleted: CANCELLED }),
  'inputs.prune': changes((session) => session.inputs.prune(), { archived: CLEARS, deleted: CANCELLED }),
  'inbox.cancel': changes((session, { item }) => session.inbox.cancel(item), { archived: OVER, deleted: CANCELLED }),
  'inbox.prune': changes((session) => session.inbox.prune(), { archived: CLEARS, deleted: CANCELLED }),
  'core.reset': changes((session, { block }) => session.core.reset(block)),
  'canvas().compact': changes((session, { canvas }) => session.canvas(canvas).compact(), { archived: CLEARS }),
  'canvas().close': changes((session, { canvas }) => session.canvas(canvas).close('over')),
  archive: changes((session) => session.archive(), { archived: OWN }),
  reopen: changes((session) => session.reopen(), { archived: OWN }),
  delete: changes((session) => session.delete({ reason: 'over' }), { archived: OWN, deleted: 'it finishes what a crash left' }),
}

/** What features add to a run. Each call is a step of the run: it writes. */
export const runCalls: Readonly<Record<string, (run: Run, known: Known) => unknown>> = {
  ask: (run) => run.ask('go on?', undefined, { within: 1 }),
  approval: (run) => run.approval('go on', undefined, { within: 1 }),
  inputs: (run) => run.inputs(),
  inbox: (run) => run.inbox({ at: 'boundary' }),
  inboxDone: (run, { claim }) => run.inboxDone(claim),
  inboxRelease: (run, { claim }) => run.inboxRelease(claim),
  canvas: (run, { canvas }) => run.canvas(canvas).replace({ by: 'the run' }),
  recall: (run) => run.recall('anything'),
  remember: (run) => run.remember('something'),
}
