// The content of a message: JSON text in the event if it is small, a value by content if it is large. Both keep the order of keys.

import { utf8Length } from '../../../model/bytes.ts'
import type { Json } from '../../../model/data.ts'
import { limits } from '../../../model/limits.ts'
import type { MessageContent, MessageRow } from '../../../model/thread.ts'
import { type ValueNode, valueRef } from '../../../model/value.ts'
import type { Guard } from '../../../ports/commit.ts'
import { blobsIn, guardsOn } from '../../content/references.ts'
import type { Scope } from '../../wiring/scope.ts'
import { stage } from '../values/stage.ts'
import { putValue, readValue } from '../values/values.ts'
import type { AnyMessage } from './stored-message.ts'

export interface StagedContent {
  readonly content: MessageContent
  /** Nodes that the commit must carry. */
  readonly nodes: readonly ValueNode[]
  /** Must hold for the commit: the content is stored. */
  readonly guards: readonly Guard[]
}

export async function stageContent(scope: Scope, message: Json): Promise<StagedContent> {
  const text = inlineText(scope, message)
  const found = guardsOn(message)
  if (text !== undefined) return { content: { text }, nodes: [], guards: found }
  // All nodes are sent, so that the commit needs no second attempt.
  const { ref, nodes, guards } = await stage(scope, message, false)
  const content = { ref: valueRef(ref) }
  if (nodes.reduce((sum, { body }) => sum + body.length, 0) <= limits.batchBytes) return { content, nodes, guards: [...guards, ...found] }
  await putValue(scope, message)
  return { content, nodes: [], guards: [{ kind: 'value', ref }, ...found] }
}

/** The JSON text of a message that is small enough for an event. Minus zero is the only value that JSON text changes. */
export function inlineText({ engine }: Pick<Scope, 'engine'>, message: Json): string | undefined {
  const text = JSON.stringify(message)
  const most = Math.min(limits.messageInlineBytes, engine.payloadBytes >> 3)
  if (text.length > most || utf8Length(text) > most) return undefined
  return hasMinusZero(message) ? undefined : text
}

function hasMinusZero(value: Json): boolean {
  if (typeof value === 'number') return Object.is(value, -0)
  if (typeof value !== 'object' || value === null) return false
  for (const member of Array.isArray(value) ? value : Object.values(value)) if (hasMinusZero(member as Json)) return true
  return false
}

/** The values and blobs that a stored message refers to. */
export function referencesOf({ content }: Pick<MessageRow, 'content'>): readonly string[] {
  if (!content) return []
  return 'ref' in content ? [content.ref] : blobsIn(content.text)
}

export async function readContent(scope: Scope, content: MessageContent): Promise<AnyMessage> {
  const message: unknown = 'text' in content ? JSON.parse(content.text) : await readValue(scope, content.ref)
  return message as AnyMessage
}
