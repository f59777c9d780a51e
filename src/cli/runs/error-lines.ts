// The first lines of a recorded error below its message: frames of the program, and its causes.

import type { ErrorData, Event } from '../../index.ts'
import { errorText } from './text.ts'

const FRAMES = 2
const CAUSES = 3

/** At most two frames of the error, and one of each of its causes. */
export function errorLines(error: ErrorData | undefined): readonly string[] {
  if (!error) return []
  const lines = [...framesOf(error, FRAMES)]
  let { cause } = error
  for (let told = 0; cause && told < CAUSES; told++) {
    lines.push(`caused by ${errorText(cause)}`, ...framesOf(cause, 1))
    cause = cause.cause
  }
  return cause ? [...lines, 'caused by more; --json prints all'] : lines
}

const FAILS: readonly string[] = ['effect.settled', 'effect.resolved', 'run.halted', 'run.failed']

/** The same below a line of a tape that tells of a failure. */
export const failureLines = ({ type, data }: Event): readonly string[] =>
  FAILS.includes(type) ? errorLines((data as { readonly error?: ErrorData } | undefined)?.error) : []

/** Frames of libraries and of Node stand in every stack; they are shown only if there are no others. */
function framesOf({ stack = '' }: ErrorData, most: number): readonly string[] {
  const frames = stack
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
  const own = frames.filter((frame) => !/\bnode:|[\\/]node_modules[\\/]|<anonymous>\)?$/.test(frame))
  return (own.length > 0 ? own : frames).slice(0, most)
}
