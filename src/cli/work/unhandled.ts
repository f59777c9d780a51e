// Names that nobody handles, for lists of runs and queues.

import type { Store, Unhandled } from '../../index.ts'
import { unhandledText } from '../../model/unhandled.ts'
import { span } from '../format.ts'
import { harmless } from '../text.ts'

export async function waitingNames(store: Store, kind: Unhandled['kind']): Promise<readonly Unhandled[]> {
  return (await store.unhandled()).filter((one) => one.kind === kind)
}

export function noteOf(one: Unhandled): string {
  const { found, todo } = unhandledText(one)
  return harmless(`${found.replace('n', 'N')}, for ${span(Math.max(0, Date.now() - one.since))}. ${todo}`)
}
