// JSON Pointer (RFC 6901): the address of a place in a JSON document.

import { refuse } from './errors.ts'
import { limits } from './limits.ts'

/** `operation` is the position of the operation in its patch, for the message. */
export function pointerSteps(pointer: unknown, operation: number, member: 'path' | 'from'): readonly string[] {
  const wrong = (why: string) => refuse('PATCH_INVALID', { operation, why: `its '${member}' ${why}` })
  if (typeof pointer !== 'string') throw wrong('is missing or not a text')
  if (pointer === '') return []
  if (!pointer.startsWith('/')) throw wrong('is not a JSON Pointer: it does not start with a slash')
  if (/~(?![01])/.test(pointer)) throw wrong('is not a JSON Pointer: a tilde is written ~0, and a slash in a name ~1')
  const steps = pointer.slice(1).split('/').map(unescaped)
  // No document is deeper, and what walks a patch calls itself for each level.
  if (steps.length > limits.patchDepth) throw wrong(`has ${steps.length} steps, and a document has at most ${limits.patchDepth} levels`)
  // Other readers of a stored patch may reach the prototype of every object through this name.
  if (steps.includes('__proto__')) throw wrong('names __proto__, which no patch may reach')
  return steps
}

const unescaped = (step: string): string => (step.includes('~') ? step.replaceAll('~1', '/').replaceAll('~0', '~') : step)

/** The pointer of a member or an item below another place. */
export const pointerBelow = (pointer: string, step: string | number): string =>
  `${pointer}/${typeof step === 'string' ? step.replaceAll('~', '~0').replaceAll('/', '~1') : step}`

export const pointerOf = (steps: readonly string[]): string => steps.reduce<string>(pointerBelow, '')

/** Whether `steps` lead to a place below the one that `above` names. */
export const isBelow = (steps: readonly string[], above: readonly string[]): boolean =>
  steps.length > above.length && above.every((step, i) => step === steps[i])
