// A labelled set for `inkfast memory eval`: NDJSON with one item or question per line.

import { readFileSync } from 'node:fs'
import type { Remembering } from '../../index.ts'
import { usage } from '../exit.ts'
import { inPackage } from '../package-root.ts'

export interface LabelledItem extends Omit<Remembering, 'supersedes'> {
  readonly id: string
  /** The id of an item of the set that this one replaces. */
  readonly supersedes?: string
  /** Forgotten once everything is remembered: no question may find it. */
  readonly forget?: boolean
}

export interface Question {
  readonly category: string
  readonly text: string
  /** The ids of the items that answer it. */
  readonly expect: readonly string[]
  readonly about?: string
}

export interface LabelledSet {
  readonly items: readonly LabelledItem[]
  readonly questions: readonly Question[]
}

/** The set that comes with Inkfast. */
export const OWN_SET = inPackage('docs/reference/memory-questions.ndjson')

export function readSet(file: string | URL): LabelledSet {
  const items: LabelledItem[] = []
  const questions: Question[] = []
  for (const [i, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    if (line.trim() === '') continue
    const { type, ...rest } = parse(line, i + 1)
    if (type === 'item' && typeof rest.id === 'string' && typeof rest.text === 'string') items.push(rest as unknown as LabelledItem)
    else if (type === 'question' && typeof rest.text === 'string' && Array.isArray(rest.expect) && typeof rest.category === 'string')
      questions.push(rest as unknown as Question)
    else throw usage(`Line ${i + 1} is neither an item (id, text) nor a question (category, text, expect). See docs/guide/memory.md.`)
  }
  const known = new Set<string>()
  for (const { id, supersedes } of items) {
    if (known.has(id)) throw usage(`Two items have the id ${id}. Give each its own.`)
    if (supersedes !== undefined && !known.has(supersedes))
      throw usage(`The item ${id} supersedes ${supersedes}, which is no earlier item.`)
    known.add(id)
  }
  if (questions.length === 0) throw usage('The file has no questions. See docs/guide/memory.md.')
  const missing = questions.flatMap(({ expect }) => expect).find((id) => !known.has(id))
  if (missing !== undefined) throw usage(`A question expects the item ${missing}, which the file does not have.`)
  return { items, questions }
}

function parse(line: string, number: number): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>
  } catch {
    throw usage(`Line ${number} is not JSON. Pass a file with one item or question per line.`)
  }
}
