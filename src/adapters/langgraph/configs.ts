// Configs of LangGraph: which thread, namespace and checkpoint a call means.

import type { RunnableConfig } from '@langchain/core/runnables'
import type { ThreadKey } from './keys.ts'

export function threadOf({ configurable }: RunnableConfig): ThreadKey | undefined {
  const thread = configurable?.thread_id as unknown
  if (thread === undefined) return undefined
  const namespace = (configurable?.checkpoint_ns ?? '') as unknown
  for (const [name, text] of [['thread_id', thread] as const, ['checkpoint_ns', namespace] as const])
    if (typeof text !== 'string' || (name === 'thread_id' && text === ''))
      throw new Error(
        `Invalid configurable "${name}": expected a text, got ${text === '' ? 'an empty one' : typeof text}. Nothing was written.`,
      )
  return { thread: thread as string, namespace: namespace as string }
}

export const configOf = ({ thread, namespace }: ThreadKey, id: string): RunnableConfig => ({
  configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: id },
})

export const missing = (name: string): Error =>
  new Error(`The config has no configurable.${name}, so nothing was saved. Pass { configurable: { ${name}: … } }.`)
