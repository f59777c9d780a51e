// The work of an effect, as the context port knows it. An effect that is asked for inside would be missing on replay, where no work is called.

import { refuse } from '../../../../model/errors.ts'
import type { BranchHandle } from './branch.ts'
import type { EffectContext } from './effect.ts'

export class EffectWork {
  readonly branch: BranchHandle
  readonly name: string
  /** The context in which the effect was asked for: the work of an effect of another run, or a branch. */
  readonly outer: unknown
  /** Sockets and timers that the work leaves behind keep its context, but their later actions are not inside it. */
  ended = false

  constructor(branch: BranchHandle, name: string, outer: unknown) {
    this.branch = branch
    this.name = name
    this.outer = outer
  }
}

/** Wraps the work so that calls inside it are recognised. Without the context port it is returned unchanged. */
export function inEffect(branch: BranchHandle, name: string, work: (given: EffectContext) => unknown): (given: EffectContext) => unknown {
  const { context } = branch.open.scope.engine.environment
  if (!context) return work
  return async (given) => {
    const inside = new EffectWork(branch, name, context.current())
    try {
      return await context.within(inside, () => work(given))
    } finally {
      inside.ended = true
    }
  }
}

export function refuseNested({ open }: BranchHandle, name: string): void {
  let at = open.scope.engine.environment.context?.current()
  for (; at instanceof EffectWork; at = at.outer)
    if (at.branch.open === open && !at.ended) throw refuse('EFFECT_NESTED', { ...open.about, effect: name, inside: at.name })
}
