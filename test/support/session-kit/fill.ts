// Fills a session with one of everything, and knows under which ids. Every text in it carries a mark, which says whose it is.

import type { Session } from '../../../src/index.ts'

/** Names and ids of things in one session. */
export interface Known {
  readonly mark: string
  readonly message: string
  /** Messages that a call may remove, and erase. */
  readonly spare: string
  readonly answer: string
  readonly thread: string
  readonly closedThread: string
  readonly key: string
  readonly spareKey: string
  readonly node: string
  readonly leaf: string
  readonly branch: string
  readonly twig: string
  readonly frame: string
  readonly turn: string
  readonly file: string
  readonly looseFile: string
  readonly spareFile: string
  readonly input: string
  readonly spareInput: string
  readonly item: string
  readonly block: string
  readonly canvas: string
  /** A run that goes on, with an input and a claim in hand. */
  readonly run: string
  readonly accepted: string
  readonly claim: string
}

export const said = (id: string, text: string, role: 'user' | 'assistant' = 'user') => ({ id, role, parts: [{ type: 'text', text }] })

/** Long enough to be stored as a value: 1 KiB is, and 32 KiB of a message. */
const long = (mark: string, times = 200): string => `${mark} ${'and so on '.repeat(times)}`
const longest = (mark: string): string => long(mark, 3500)

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

export async function fill(session: Session, name: string): Promise<Known> {
  const mark = `${name}-first`
  const of = (what: string): string => `${name}.${what}`
  const messages = { message: of('message'), spare: of('spare'), answer: of('answer') }
  const nodes = { node: of('node'), leaf: of('leaf'), branch: of('branch'), twig: of('twig'), frame: of('frame'), turn: of('turn') }
  const names = { key: of('key'), spareKey: of('spareKey'), block: `${name}_block`, canvas: of('canvas') }
  const cutOff = { type: 'text', text: mark, state: 'streaming' }
  const answer = { id: messages.answer, role: 'assistant', parts: [cutOff] }
  await session.thread.add([said(messages.message, longest(mark)), answer, said(messages.spare, mark)])
  await session.thread.record(messages.message, { model: mark })
  await session.thread.rename(mark)
  const { id: thread } = await session.threads.create({ title: mark })
  const { id: closedThread } = await session.threads.create({ title: mark })
  await session.threads.archive(closedThread)
  await session.state.set(names.key, long(mark))
  await session.state.set(names.spareKey, mark)
  await session.configure({ intent: mark })
  await session.frames.open(nodes.frame, { reason: mark })
  const { id: file } = await session.attachments.put(bytes(mark), { name: `${mark}.txt` })
  const { id: looseFile } = await session.attachments.put(bytes(`${mark}, loose`))
  const { id: spareFile } = await session.attachments.put(bytes(`${mark}, spare`))
  await session.commitTurn({
    turn: nodes.turn,
    nodes: [
      { id: nodes.node, parent: null, payload: long(mark) },
      { id: nodes.branch, parent: nodes.node, payload: mark },
      { id: nodes.twig, parent: nodes.node, payload: mark },
      { id: nodes.leaf, parent: nodes.node, payload: mark },
    ],
    checkpoint: { note: long(mark) },
    attachments: [file],
  })
  await session.core.set(names.block, mark)
  await session.canvas(names.canvas).replace({ note: mark })
  await session.canvas(names.canvas).replace({ note: `${mark}, again` })
  const held = await takeUp(session, of('run'), mark)
  const { id: input } = await session.input(mark)
  const { id: spareInput } = await session.input(mark)
  const { id: item } = await session.inbox.offer(mark, { kind: 'turn', delivery: 'afterTurn' })
  return { mark, ...messages, ...nodes, ...names, ...held, thread, closedThread, file, looseFile, spareFile, input, spareInput, item }
}

async function takeUp(session: Session, key: string, mark: string): Promise<Pick<Known, 'run' | 'accepted' | 'claim'>> {
  await using run = await session.run('kit', { key })
  await session.input(mark)
  await session.inbox.offer(mark, { kind: 'turn', delivery: 'boundary' })
  const [accepted] = await run.inputs()
  const { claim } = await run.inbox({ at: 'boundary' })
  if (!accepted || !claim) throw new Error('the run has taken nothing')
  return { run: run.id, accepted: accepted.id, claim }
}

/** Changes what `fill` has made, so that a fork before it is told from one after it. */
export async function change(session: Session, known: Known, name: string): Promise<void> {
  const mark = `${name}-second`
  await session.thread.add([said(known.message, longest(mark)), said(`${name}.late`, mark)])
  await session.thread.record(known.message, { model: mark })
  await session.thread.rename(mark)
  await session.threads.rename(known.thread, mark)
  await session.threads.create({ title: mark })
  await session.state.set(known.key, long(mark))
  await session.configure({ intent: mark })
  await session.frames.open(`${name}.late`, { reason: mark })
  await session.attachments.commit([known.looseFile])
  await session.graph.remove(known.branch)
  await session.commitTurn({ turn: `${name}.late`, nodes: [{ id: `${name}.late`, payload: mark }], checkpoint: { note: long(mark) } })
  await session.core.set(known.block, mark)
  await session.canvas(known.canvas).replace({ model: mark })
}

/** The same things in a fork, which gave some of them ids of its own. */
export async function knownIn(fork: Session, known: Known): Promise<Known> {
  const { items } = await fork.threads.list()
  const threadIn = (state: string): string => items.find((one) => one.id !== fork.thread.id && one.state === state)?.id as string
  return { ...known, thread: threadIn('open'), closedThread: threadIn('archived') }
}
