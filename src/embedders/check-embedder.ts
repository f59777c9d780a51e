// Checks what an embedder says of itself: its names, its dimensions and its batch.

import { limits } from '../model/limits.ts'
import { invalidOption } from '../model/options.ts'

export function checkNames(id: unknown, version: unknown): void {
  for (const [name, value] of Object.entries({ id, version })) {
    if (typeof value !== 'string' || value === '' || value.length > 200 || !value.isWellFormed())
      throw invalidOption(`embedder.${name}`, 'a text of 1 to 200 characters', value)
  }
}

export function checkDimensions(dimensions: unknown): void {
  if (!Number.isInteger(dimensions) || (dimensions as number) < 1 || (dimensions as number) > limits.vectorDimensions)
    throw invalidOption('embedder.dimensions', `an integer from 1 to ${limits.vectorDimensions}`, dimensions)
}

export function checkBatch(batch: unknown): void {
  if (!Number.isInteger(batch) || (batch as number) < 1 || (batch as number) > 2048)
    throw invalidOption('embedder.batch', 'an integer from 1 to 2048', batch)
}
