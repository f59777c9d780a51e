// A program that compiles only if the types of messages and those of the AI SDK fit one another, both ways.

import { convertToModelMessages, type InferUITools, jsonSchema, tool, type UIMessage } from 'ai'
import type { Session } from '../../src/index.ts'

const tools = {
  refund: tool({
    inputSchema: jsonSchema<{ order: number }>({ type: 'object' }),
    execute: async (input: { order: number }) => ({ paid: input.order }),
  }),
}
type Meta = { createdAt: number }
type Data = { chart: { points: number[] } }
type Tools = InferUITools<typeof tools>
type Mine = UIMessage<Meta, Data, Tools>

export async function compiles(session: Session, given: UIMessage, mine: Mine): Promise<readonly Mine[]> {
  await session.thread.add(given)
  await session.thread.add([mine], { from: 'client' })
  await session.thread.import([given])
  const history: UIMessage[] = await session.thread.messages({ last: 40 })
  const one: UIMessage | undefined = await session.thread.get('m')
  await session.thread.update('m', (message) => {
    const same: UIMessage = message
    return { ...same, metadata: 1 }
  })
  await convertToModelMessages(await session.thread.messages())
  const page = await session.thread.messages({ last: 2 })
  const cursor: string | undefined = page.cursor
  const typed: Mine[] = await session.thread.messages<Meta, Data, Tools>()
  const single: Mine | undefined = await session.thread.get<Meta, Data, Tools>('m')
  // @ts-expect-error the metadata are others
  const wrong: UIMessage<{ createdAt: string }, Data, Tools>[] = await session.thread.messages<Meta, Data, Tools>()
  for (const part of (await session.thread.messages<Meta, Data, Tools>())[0]?.parts ?? []) {
    if (part.type === 'tool-refund' && part.state === 'output-available') part.output.paid satisfies number
    // @ts-expect-error no tool has this name
    if (part.type === 'tool-delete') continue
  }
  return [...typed, ...(single ? [single] : []), ...(cursor === undefined || wrong || history || one ? [] : [])]
}
