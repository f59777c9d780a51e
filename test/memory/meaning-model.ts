// A model for tests that knows which words mean the same, counts its calls, and fails when it is told to.

import type { EmbedFunction, Store } from '../../src/index.ts'

const THINGS: readonly (readonly string[])[] = [
  ['car', 'automobile', 'vehicle'],
  ['dog', 'puppy', 'hound'],
  ['tea', 'brew', 'kettle'],
]

/** A model that knows which words mean the same. */
export const meaning = (text: string): number[] => [...THINGS.map((words) => (words.some((word) => text.includes(word)) ? 1 : 0)), 0.1]

export interface Model extends EmbedFunction {
  readonly calls: string[][]
  fails: ((texts: readonly string[]) => unknown) | undefined
}

export function model(id = 'm', more: Partial<EmbedFunction> = {}): Model {
  const made: Model = {
    id,
    dimensions: 4,
    version: '1',
    embed: async (texts) => {
      made.calls.push([...texts])
      const failed = await made.fails?.(texts)
      return (failed ?? texts.map(meaning)) as number[][]
    },
    ...more,
    calls: [],
    fails: undefined,
  }
  // The options of a store know no such members.
  Object.defineProperties(made, { calls: { enumerable: false }, fails: { enumerable: false, writable: true } })
  return made
}

export const TEXTS = ['Ada bought an automobile', 'Bob has a puppy', 'Cleo drinks tea']
export const texts = (hits: Awaited<ReturnType<Store['memory']['recall']>>) => hits.map(({ item }) => item.text)
