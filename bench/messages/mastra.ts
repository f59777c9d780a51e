// The peer: messages in Mastra's libSQL storage, at the same durability as ours.

interface Memory {
  saveThread(given: { thread: object }): Promise<unknown>
  saveMessages(given: { messages: readonly object[] }): Promise<unknown>
  listMessages(given: object): Promise<{ messages: readonly unknown[] }>
}

interface Storage {
  init(): Promise<void>
  close(): Promise<void>
  getStore(name: string): Promise<unknown>
}

type MakeStorage = new (config: { readonly id: string; readonly url: string }) => Storage

export interface Peer {
  save(thread: string, id: string, text: string): Promise<void>
  last(thread: string, count: number): Promise<number>
  open(thread: string): Promise<void>
  close(): Promise<void>
}

export async function mastra(path: string): Promise<Peer> {
  // Peers are installed when someone measures, so the compiler does not know this one.
  const name: string = '@mastra/libsql'
  const { LibSQLStore } = (await import(name)) as { readonly LibSQLStore: MakeStorage }
  const store = new LibSQLStore({ id: 'bench', url: `file:${path}` })
  await store.init()
  // The client of the store sets NORMAL; ours flushes every commit, so its peer does too.
  const { client } = store as unknown as { client: { execute(sql: string): Promise<unknown> } }
  await client.execute('pragma synchronous = full')
  const memory = (await store.getStore('memory')) as unknown as Memory
  const at = new Date()
  return {
    open: async (thread) => {
      await memory.saveThread({ thread: { id: thread, resourceId: 'r', title: '', metadata: {}, createdAt: at, updatedAt: at } })
    },
    save: async (threadId, id, text) => {
      const content = { format: 2, parts: [{ type: 'text', text }] }
      await memory.saveMessages({ messages: [{ id, threadId, resourceId: 'r', role: 'user', createdAt: new Date(), type: 'v2', content }] })
    },
    last: async (threadId, count) => {
      const { messages } = await memory.listMessages({
        threadId,
        perPage: count,
        page: 0,
        orderBy: { field: 'createdAt', direction: 'DESC' },
      })
      return messages.length
    },
    close: async () => {
      await store.close()
    },
  }
}
