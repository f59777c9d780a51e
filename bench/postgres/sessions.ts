// A session for each caller, as agents have them.

import type { Session, Store } from '../../src/index.ts'

export async function callerSessions(store: Store, callers: number, prefix = 'bench'): Promise<(caller: number) => Session> {
  const sessions = await Promise.all(Array.from({ length: callers }, (_, caller) => store.session(`${prefix}/${caller}`)))
  return (caller) => sessions[caller % callers] as Session
}
