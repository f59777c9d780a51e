// The outside world of the demo: a file to which every action adds a line, so that a repeated action is visible.

import { appendFileSync, existsSync, readFileSync } from 'node:fs'

export interface Action {
  readonly tool: string
  /** The process that acted. */
  readonly pid: number
  readonly key?: string
}

export function act(outbox: string, action: Action): void {
  appendFileSync(outbox, `${JSON.stringify(action)}\n`)
}

/** Acts like a payment or mail service with idempotency keys: returns false if it has done this already. */
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
