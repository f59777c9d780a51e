// The world outside of the demo's agent: a file to which every action adds a line, so that what was done twice is there twice.

import { appendFileSync, existsSync, readFileSync } from 'node:fs'

export interface Action {
  readonly tool: string
  /** The process that did it. */
  readonly pid: number
  readonly key?: string
}

export function act(outbox: string, action: Action): void {
  appendFileSync(outbox, `${JSON.stringify(action)}\n`)
}

/** A service that knows the keys it was given, as payment and mail services do: false where it has done this already. */
export function actOnce(outbox: string, action: Action & { readonly key: string }): boolean {
  if (actions(outbox).some(({ tool, key }) => tool === action.tool && key === action.key)) return false
  act(outbox, action)
  return true
}

export function actions(outbox: string): readonly Action[] {
  if (!existsSync(outbox)) return []
  const lines = readFileSync(outbox, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Action)
}
