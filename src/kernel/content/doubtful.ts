// References in data from outside: the result of an effect, an answer that is streamed, an error. They may be references, and are guarded then;
// they may look like some by chance, or tell of content that is gone, and then they are plain data.

import { parseValueRef } from '../../model/value.ts'
import type { Guard, Outcome } from '../../ports/commit.ts'
import type { Scope } from '../wiring/scope.ts'
import { blobDigestOf, guarded } from './references.ts'

const PAGE = 512

/** The references among these that name nothing. */
export async function absentOf({ engine, tenant }: Scope, references: readonly string[]): Promise<Set<string>> {
  const { blobs, values } = engine.backend
  const absent = new Set<string>()
  for (let at = 0; at < references.length; at += PAGE) {
    const page = references.slice(at, at + PAGE)
    const ofBlobs = page.filter((reference) => blobDigestOf(reference) !== undefined)
    const ofValues = page.filter((reference) => blobDigestOf(reference) === undefined)
    const present =
      ofBlobs.length > 0
        ? await blobs.has(
            tenant,
            ofBlobs.map((reference) => blobDigestOf(reference) as string),
          )
        : []
    const bodies = ofValues.length > 0 ? await values.get(tenant, ofValues.map(parseValueRef)) : []
    for (const [i, reference] of ofBlobs.entries()) if (!present[i]) absent.add(reference)
    for (const [i, reference] of ofValues.entries()) if (!bodies[i]) absent.add(reference)
  }
  return absent
}

/** Optional guards of a commit. It is sent with all of them, and only a refusal costs a look at what exists. */
export class OptionalGuards {
  #dropped: ReadonlySet<string> = new Set()
  #sent: readonly Guard[] = []

  /** The guards that the commit is sent with. */
  of(guards: readonly Guard[]): readonly Guard[] {
    const isLeft = (guard: Guard) => !isOptional(guard) || !guarded(guard).some((reference) => this.#dropped.has(reference))
    this.#sent = guards.filter(isLeft)
    return this.#sent
  }

  /** Whether the commit was refused for a guard that it is now sent without. */
  async drop(scope: Scope, { refused }: Outcome & { readonly ok: false }): Promise<boolean> {
    if (typeof refused !== 'object' || !isOptional(refused)) return false
    const absent = await absentOf(scope, [...new Set(this.#sent.filter(isOptional).flatMap(guarded))])
    this.#dropped = new Set([...this.#dropped, ...absent, ...guarded(refused)])
    return true
  }
}

const isOptional = (guard: Guard): boolean => (guard.kind === 'value' || guard.kind === 'blob') && guard.optional === true
