// Assertions that many cases share: a commit was saved, a commit was refused, the content of the journal.

import { ok, deepEqual as same } from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import type { Receipt } from '../../model/event.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Commit, Guard, Outcome } from '../../ports/commit.ts'
import { picture, readAll } from '../picture.ts'

export async function send(backend: Backend, commit: Commit): Promise<Outcome> {
  const outcomes = await backend.commit([commit])
  same(outcomes.length, 1, 'one outcome for one commit')
  return outcomes[0] as Outcome
}

export function saved(outcome: Outcome | undefined, repeated = false): readonly Receipt[] {
  ok(outcome?.ok, `saved, not ${JSON.stringify(outcome)}`)
  same(outcome.repeated, repeated, repeated ? 'marked as repeated' : 'not marked as repeated')
  return outcome.receipts
}

export const save = async (backend: Backend, commit: Commit): Promise<readonly Receipt[]> => saved(await send(backend, commit))

export function refused(outcome: Outcome | undefined, by: Guard | 'key' | 'tenant', found: unknown): void {
  ok(outcome && !outcome.ok, `refused, not ${JSON.stringify(outcome)}`)
  same(outcome.refused, by, 'refused by what stands in the way')
  same(outcome.found, found, 'says what was found')
}

export const seqsOf = async (backend: Backend, tenant: TenantId): Promise<readonly number[]> =>
  (await readAll(backend.journal, tenant)).map((e) => e.seq)

export const idsOf = async (backend: Backend, tenant: TenantId): Promise<readonly string[]> =>
  (await readAll(backend.journal, tenant)).map((e) => e.id)

/** Checks that `work` changes nothing that can be read. */
export async function changesNothing<T>(backend: Backend, tenants: readonly TenantId[], work: () => Promise<T>): Promise<T> {
  const before = await picture(backend, tenants)
  const result = await work()
  same(await picture(backend, tenants), before, 'nothing changed')
  return result
}

/** Waits until the condition holds. Returns false on timeout. */
export async function within(ms: number, condition: () => boolean): Promise<boolean> {
  for (const started = performance.now(); !condition(); ) {
    if (performance.now() - started > ms) return false
    await wait(2)
  }
  return true
}
