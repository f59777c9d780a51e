// Named components of a checkpoint, stored by their content. A commit that saves a checkpoint is written like this:
//
//   await withComponents(scope, components, row.checkpoint, ({ manifest, nodes, guards }) =>
//     plan(scope, [part(decider, id, { verb: 'save', manifest }, { whole: true })], { nodes, guards }))
//   const components = row.checkpoint && (await readComponents(scope, row.checkpoint))
//
// The row keeps the manifest, and its feature declares `refs: { table: (row) => manifestRefs(row.checkpoint) }`, so that garbage collection
// keeps the components of the newest manifest. The manifest is not masked (`whole`): it contains refs only.

import { hex } from '../../../model/bytes.ts'
import { CHECKPOINT_SCHEMA, type CheckpointManifest, type ComponentRef, type TurnState } from '../../../model/checkpoint.ts'
import { type Json, takeExact } from '../../../model/data.ts'
import { InkError, refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import type { Guard } from '../../../ports/commit.ts'
import { getBlob, putBlob } from '../../content/blobs.ts'
import { blobDigestOf } from '../../content/references.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { conflictOrGone, retryConflicts } from '../../writing/retry-conflicts.ts'
import { type CommitShares, withValues } from '../values/staged.ts'
import { readValue } from '../values/values.ts'

/** JSON or bytes under names. A component that is undefined is absent. */
export type Components = Readonly<Record<string, unknown>>

/** The manifest that a commit writes, and what the commit must carry for it. */
export interface ManifestShare extends Pick<CommitShares, 'nodes' | 'guards'> {
  readonly manifest: CheckpointManifest
}

/**
 * Checks the components, then calls `commit` with their manifest. `previous` is the manifest that this one replaces: a component whose
 * content is the same costs one ref and keeps its revision; a component that is not given is dropped. `commit` may be called a second time,
 * if content was collected meanwhile.
 */
export async function withComponents<T>(
  scope: Scope,
  given: Components,
  previous: CheckpointManifest | undefined,
  commit: (share: ManifestShare) => Promise<T>,
  turn?: TurnState,
): Promise<T> {
  checkOpen(scope.engine)
  const { names, values, bytes, turn: state } = takeComponents(scope, given, turn)
  const kept = new Set(manifestRefs(previous))
  const before = new Map(Object.entries(previous?.components ?? {}))
  // Bytes that were stored before may be gone meanwhile; then they are put again.
  return retryConflicts(scope, conflictOrGone(), async (attempt) => {
    const known = attempt === 1
    const blobs: [string, Omit<ComponentRef, 'revision'>][] = []
    for (const [name, one] of bytes) blobs.push([name, await store(scope, name, one, known ? kept : NOTHING)])
    const all = [...values.map(([, value]) => value), ...(state === undefined ? [] : [state])]
    return withValues(
      scope,
      all,
      ({ refs, nodes, guards }) => {
        const stored = new Map([...values.map(([name], i) => [name, { ref: refs[i] as string }] as const), ...blobs])
        const components = names.flatMap((name): [string, ComponentRef][] => {
          const one = stored.get(name)
          return one ? [[name, revised(one, before.get(name))]] : []
        })
        const manifest = {
          schema: CHECKPOINT_SCHEMA,
          components: Object.fromEntries(components),
          ...(state !== undefined && { turn: revised({ ref: refs.at(-1) as string }, previous?.turn) }),
        }
        const present = blobs.map(([, { ref }]): Guard => ({ kind: 'blob', digest: blobDigestOf(ref) as string }))
        return commit({ manifest, nodes, guards: [...guards, ...present] })
      },
      known ? kept : NOTHING,
    )
  })
}

/** Reads the components under their names. Refuses a manifest that is not readable, and a component that is missing or damaged. */
export async function readComponents(scope: Scope, manifest: CheckpointManifest): Promise<Record<string, unknown>> {
  checkManifest(manifest)
  const reading = Object.entries(manifest.components).map(async ([name, one]) => [name, await readComponent(scope, name, one)] as const)
  return Object.fromEntries(await Promise.all(reading))
}

export async function readTurnState(scope: Scope, manifest: CheckpointManifest): Promise<TurnState> {
  checkManifest(manifest)
  return manifest.turn ? ((await readComponent(scope, 'turn', manifest.turn)) as TurnState) : {}
}

/** The values and blobs that a manifest names. */
export const manifestRefs = (manifest: CheckpointManifest | undefined): readonly string[] =>
  manifest ? [...Object.values(manifest.components), ...(manifest.turn ? [manifest.turn] : [])].map(({ ref }) => ref) : []

const NOTHING: ReadonlySet<string> = new Set()

/** Refuses components that cannot be stored, before anything is written. */
export const checkComponents = (scope: Scope, given: Components, turn?: TurnState): void => void takeComponents(scope, given, turn)

interface Taken {
  readonly names: readonly string[]
  readonly values: readonly (readonly [string, Json])[]
  readonly bytes: readonly (readonly [string, Uint8Array])[]
  readonly turn: Json | undefined
}

/** Everything is checked and copied before anything is stored. */
function takeComponents(scope: Scope, given: Components, turn: TurnState | undefined): Taken {
  const members = Object.entries(optionsOf(given, 'components')).filter(([, content]) => content !== undefined)
  if (!isPlain(given)) throw invalidOption('components', 'a plain object of components', given)
  if (members.length > limits.checkpointComponents)
    throw invalidOption('components', `at most ${limits.checkpointComponents} components`, members.length)
  for (const [name] of members) telling(scope, () => checkName(name))
  return {
    names: members.map(([name]) => name),
    values: members.flatMap(([name, content]) =>
      content instanceof Uint8Array ? [] : [[name, telling(scope, () => takeExact(content))] as const],
    ),
    bytes: members.flatMap(([name, content]) => (content instanceof Uint8Array ? [[name, new Uint8Array(content)] as const] : [])),
    turn: turn === undefined ? undefined : takeTurn(scope, turn),
  }
}

/** Nothing at all and a Map would be stored as an empty checkpoint, and bytes as one component for each byte. */
function isPlain(given: object | undefined): boolean {
  if (given === undefined) return false
  const prototype: unknown = Object.getPrototypeOf(given)
  // A plain object of another realm has a prototype of its own, recognised by having no prototype above it.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const CONTROL = /[\u0000-\u001f\u007f]/

/** A name stands in the manifest as it is: it is not masked, so that `restore` returns the names that were given. */
function checkName(name: string): void {
  if (name !== '' && name !== '__proto__' && name.length <= limits.runNameChars && name.isWellFormed() && !CONTROL.test(name)) return
  throw refuse('RUN_NAME_INVALID', { name: name.slice(0, 80), of: 'a component', limit: limits.runNameChars })
}

function takeTurn(scope: Scope, given: TurnState): Json | undefined {
  const { turn, usage, lastPromptUsage, options, ...unknown } = optionsOf(given, 'checkpoint')
  checkKnown(unknown, 'a checkpoint')
  if (turn !== undefined && (!Number.isSafeInteger(turn) || turn < 0)) throw invalidOption('turn', 'an integer ≥ 0', turn)
  const members = Object.entries({ turn, usage, lastPromptUsage, options }).filter(([, content]) => content !== undefined)
  return members.length === 0 ? undefined : telling(scope, () => takeExact(Object.fromEntries(members)))
}

/** The kinds of the seed's components. Other bytes are generic. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ['toolState', 'tool-state'],
  ['plugin', 'plugin-snapshot'],
  ['execution', 'execution-state'],
])

/** Bytes that `kept` names are stored already. The commit guards that they still are. */
async function store(scope: Scope, name: string, bytes: Uint8Array, kept: ReadonlySet<string>): Promise<Omit<ComponentRef, 'revision'>> {
  const kind = KINDS.get(name) ?? 'generic'
  const known = `blob:${hex(scope.engine.environment.digest.sha256(bytes))}`
  const ref = kept.has(known) ? known : `blob:${(await putBlob(scope, bytes, { kind })).digest}`
  return { ref, bytes: bytes.length, kind }
}

const revised = (stored: Omit<ComponentRef, 'revision'>, before: ComponentRef | undefined): ComponentRef => ({
  ...stored,
  revision: !before ? 1 : before.ref === stored.ref ? before.revision : before.revision + 1,
})

function checkManifest(manifest: CheckpointManifest): void {
  const { schema } = manifest as { readonly schema?: unknown }
  const why = schema === undefined ? 'it has no schema version' : 'its schema version is no number'
  if (typeof schema !== 'number') throw refuse('CHECKPOINT_UNREADABLE', { why })
  if (schema !== CHECKPOINT_SCHEMA)
    throw refuse('CHECKPOINT_UNREADABLE', { why: `its schema version is ${schema}, and this version reads ${CHECKPOINT_SCHEMA}` })
}

async function readComponent(scope: Scope, component: string, { ref }: ComponentRef): Promise<unknown> {
  const digest = blobDigestOf(ref)
  try {
    return digest === undefined ? await readValue(scope, ref) : await getBlob(scope, digest)
  } catch (error) {
    if (!(error instanceof InkError) || !LOST.includes(error.code)) throw error
    throw refuse('COMPONENT_LOST', { component, ref, why: error.kind === 'missing' ? 'missing' : 'damaged', code: error.code }, error)
  }
}

const LOST: readonly string[] = ['VALUE_MISSING', 'VALUE_DAMAGED', 'BLOB_UNKNOWN', 'BLOB_DAMAGED']
