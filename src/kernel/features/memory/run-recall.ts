// `run.recall`: a recall that is recorded on the tape, so that replay sees the same items.

import type { BranchHandle } from '../runs/program/branch.ts'
import type { Hit } from './fuse.ts'
import { type Hits, type RecallOptions, recall, takeRecall, toHits } from './recall.ts'

interface Recorded {
  readonly hits: readonly Hit[]
  readonly legs: Hits['legs']
  readonly degraded?: string
}

export async function recallInRun(branch: BranchHandle, text: string, options?: RecallOptions): Promise<Hits> {
  takeRecall(branch.open.scope, text, options)
  const { signal: _, ...asked } = options ?? {}
  const work = async (): Promise<Recorded> => {
    const found = await recall(branch.open.scope, text, options)
    return { hits: [...found], legs: found.legs, ...(found.degraded !== undefined && { degraded: found.degraded }) }
  }
  const { hits, legs, degraded } = await branch.effect('recall', work, { input: JSON.parse(JSON.stringify({ text, ...asked })) })
  return toHits(hits, legs, degraded)
}
