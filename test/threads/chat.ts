// A chat as the messages guide describes it: a server on a store, with a model that asks for tools, and the browser's own code of the AI SDK.

import {
  AbstractChat,
  type ChatState,
  type ChatStatus,
  convertToModelMessages,
  createUIMessageStream,
  createUIMessageStreamResponse,
  DefaultChatTransport,
  getToolName,
  isToolUIPart,
  jsonSchema,
  simulateReadableStream,
  streamText,
  tool,
  toUIMessageStream,
  type UIMessage,
} from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import type { Session, Store } from '../../src/index.ts'

type Stream = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream']
type ModelChunk = Stream extends ReadableStream<infer Chunk> ? Chunk : never

const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } }

const text = (words: string): ModelChunk[] => [
  { type: 'text-start', id: '0' },
  { type: 'text-delta', id: '0', delta: words },
  { type: 'text-end', id: '0' },
  { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
]
const call = (toolName: string, input: object): ModelChunk[] => [
  { type: 'text-start', id: '0' },
  { type: 'text-delta', id: '0', delta: `I use ${toolName}.` },
  { type: 'text-end', id: '0' },
  { type: 'tool-call', toolCallId: `call-${toolName}`, toolName, input: JSON.stringify(input) },
  { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
]

/** Calls a tool where the person asks for one, and says something after its result. */
const model = new MockLanguageModelV4({
  doStream: async ({ prompt }) => {
    const last = prompt.at(-1)
    const said = JSON.stringify(last?.content)
    const chunks =
      last?.role === 'tool'
        ? text('Done.')
        : said.includes('refund')
          ? call('refund', { order: 4711, eur: 20 })
          : said.includes('where')
            ? call('where', {})
            : text('Hello.')
    return { stream: simulateReadableStream({ chunks }) as Stream }
  },
})

export interface ChatServer {
  readonly session: Session
  /** Inputs that the tool was executed with. */
  readonly refunds: unknown[]
  /** Takes the messages that a browser sends, and answers with a stream. */
  post(body: unknown): Promise<Response>
}

export async function chatServer(store: Store, key: string): Promise<ChatServer> {
  const session = await store.session(key, { owner: 'ada' })
  const refunds: unknown[] = []
  const tools = {
    refund: tool({
      inputSchema: jsonSchema<{ order: number; eur: number }>({ type: 'object' }),
      execute: async (input) => {
        refunds.push(input)
        return { paid: input.eur }
      },
    }),
    // It runs in the browser.
    where: { inputSchema: jsonSchema<object>({ type: 'object' }) },
  }

  /** A question of the model becomes a question of the store. */
  const ask = async (id: string): Promise<void> => {
    for (const part of (await session.thread.get(id))?.parts ?? [])
      if (isToolUIPart(part) && part.state === 'approval-requested')
        await store.approvals.request({
          subjectType: 'tool',
          subject: getToolName(part),
          data: part.input,
          key: part.approval.id,
          session: session.id,
        })
  }

  const post = async (body: unknown): Promise<Response> => {
    const { messages } = body as { readonly messages: readonly UIMessage[] }
    for (const part of messages.flatMap(({ parts }) => parts)) {
      if (!isToolUIPart(part) || part.state !== 'approval-responded') continue
      const [asked] = (await store.approvals.list({ key: part.approval.id, session: session.id, state: 'pending' })).items
      if (asked) await store.approvals.decide(asked.id, { decision: part.approval.approved ? 'approve' : 'deny', by: 'user/ada' })
    }
    await session.thread.add(messages, { from: 'client', clientTools: ['where'] })
    const history: UIMessage[] = await session.thread.messages({ last: 40 })
    const last = history.at(-1)
    const id = last?.role === 'assistant' ? last.id : crypto.randomUUID()
    const result = streamText({ model, tools, toolApproval: { refund: 'user-approval' }, messages: await convertToModelMessages(history) })
    const chunks = toUIMessageStream({ stream: result.stream, originalMessages: history, generateMessageId: () => id })
    const stream = createUIMessageStream({
      execute: async ({ writer }) => {
        {
          await using stored = session.thread.stream(id)
          for await (const chunk of chunks) {
            await stored.write(chunk)
            writer.write(chunk)
          }
        }
        await ask(id)
      },
    })
    return createUIMessageStreamResponse({ stream })
  }
  return { session, refunds, post }
}

class State implements ChatState<UIMessage> {
  status: ChatStatus = 'ready'
  error: Error | undefined = undefined
  messages: UIMessage[]
  constructor(messages: UIMessage[]) {
    this.messages = messages
  }
  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message]
  }
  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1)
  }
  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, message)
  }
  snapshot = <T>(value: T): T => structuredClone(value)
}

/** `useChat` without React. `change` forges what is sent. */
export class Browser extends AbstractChat<UIMessage> {
  constructor(
    server: ChatServer,
    { messages = [], change = (sent) => sent }: { messages?: UIMessage[]; change?: (sent: UIMessage[]) => unknown[] } = {},
  ) {
    const post = async (_: unknown, init?: RequestInit): Promise<Response> => {
      const body = JSON.parse(String(init?.body)) as { readonly messages: UIMessage[] }
      return server.post({ ...body, messages: change(body.messages) })
    }
    super({ state: new State(messages), transport: new DefaultChatTransport({ api: 'http://chat.test/', fetch: post }) })
  }

  /** The tool part that was made last. */
  get call() {
    const part = this.messages.flatMap(({ parts }) => parts).findLast(isToolUIPart)
    if (!part) throw new Error('the model called no tool')
    return part
  }
}
