// The declared input of an effect. Replay compares its digest, so that a program that asks for the same effect with another input is found.

import { hex, utf8, utf8Length } from '../../../../model/bytes.ts'
import { canonical } from '../../../../model/canonical.ts'
import { type Json, takeData } from '../../../../model/data.ts'
import { InkError } from '../../../../model/errors.ts'
import { hmac } from '../../../../model/hmac.ts'
import type { Stored } from '../../../../model/run.ts'
import { checkValue, load, store } from '../../../content/json-or-blob.ts'
import type { Scope } from '../../../wiring/scope.ts'
import type { Entry } from '../tape/tape.ts'
import type { RunWriter } from '../writing/run-writer.ts'
import type { Asked } from './call.ts'

/** As it is recorded: the masked input, and the keyed digest of the raw one. */
export interface RecordedInput {
  readonly digest: string
  readonly stored: Stored
}

/** As the program declares it. It is stored only if the effect is executed. */
export interface DeclaredInput {
  readonly masked: Json
  digest(): Promise<string>
  record(): Promise<RecordedInput>
}

/** Reads a declared input at once, because the program may change it later. The digest is keyed, so that it confirms no guess. */
export function declare(scope: Scope, input: unknown): DeclaredInput | undefined {
  // It is compared and not read back, so it has no name.
  const about = {}
  const masked = checkValue(scope, input, about)
  if (masked === undefined) return undefined
  const raw = utf8(canonical(takeData(input)))
  const digest = async () => hex(hmac(scope.engine.environment.digest.sha256, await scope.engine.redactKey(), raw))
  return { masked, digest, record: async () => ({ digest: await digest(), stored: await store(scope, masked, about, true) }) }
}

const PATHS = 8
const PATH_BYTES = 2048

/** Refuses a program that asks for a recorded effect with another input. Nothing is compared if the record has none. */
export async function checkInput(open: RunWriter, asked: Asked, { input, seq }: Entry, declared: DeclaredInput): Promise<void> {
  if (!input || input.digest === (await declared.digest())) return
  const paths = await differingPaths(open.scope, input, declared)
  const place = asked.branch === '' ? '' : ` in branch ${asked.branch}`
  const differ =
    paths.length > 0 ? paths.map((path) => `  the input differs at ${path}`) : ['  the input differs in a part that is masked or gone']
  const call = `effect '${asked.name}' #${asked.ordinal}${place}`
  throw open.diverged([`- recorded: ${call} (seq ${seq})`, `+ asked for: ${call} with another input`, ...differ].join('\n'))
}

/** The paths at which two inputs differ, at most eight. Secrets are masked on both sides, so a path may be missing. */
async function differingPaths(scope: Scope, recorded: RecordedInput, asked: DeclaredInput): Promise<readonly string[]> {
  const found: string[] = []
  try {
    compare((await load(scope, recorded.stored)) as Json, asked.masked, '$', found)
  } catch (error) {
    // The blob is gone. The digests differ all the same.
    if (!(error instanceof InkError)) throw error
  }
  return found
}

function compare(a: Json | undefined, b: Json | undefined, path: string, found: string[]): void {
  if (found.length >= PATHS) return
  if (isBranch(a) && isBranch(b) && Array.isArray(a) === Array.isArray(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
      compare(own(a, key), own(b, key), Array.isArray(a) ? `${path}[${key}]` : `${path}.${key}`, found)
  } else if (a === undefined || b === undefined || canonical(a) !== canonical(b)) found.push(cut(path))
}

type Members = Readonly<Record<string, Json>>

const isBranch = (value: Json | undefined): value is Json & Members => typeof value === 'object' && value !== null

const own = (value: Members, key: string): Json | undefined => (Object.hasOwn(value, key) ? value[key] : undefined)

function cut(path: string): string {
  let end = path.slice(0, PATH_BYTES)
  while (utf8Length(end) > PATH_BYTES) end = end.slice(0, -1)
  return end.toWellFormed()
}
