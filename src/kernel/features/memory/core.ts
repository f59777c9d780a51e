// Core memory: named blocks that are always in the prompt, of a session or of a user.

import { refuse } from '../../../model/errors.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import type { CoreRow } from '../../../model/memory.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { Fork } from '../../feature.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { happened } from '../../proof/rebuild.ts'
import { everyPage, everyRow } from '../../reading/every-row.ts'
import { type ArrayPage, arrayPage } from '../../reading/list-rows.ts'
import { scanJournal } from '../../reading/read-events.ts'
import { forkedRows } from '../../reading/rows-at.ts'
import { checkThere } from '../../session/refuse-deleted.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { admit, isWhole } from '../../writing/draft.ts'
import { type DoneRow, part, plan, readRow } from '../../writing/execute.ts'
import { coreBlock } from './core-decider.ts'

export interface CoreBlock {
  readonly name: string
  readonly text: string
  /** The most characters that it may have. */
  readonly limit: number
  /** Counts its changes; 0 for a block that was never set. */
  readonly version: number
  readonly changedAt?: number
}

export interface SetCoreOptions {
  /** The version that the block must have. Refused with CORE_CHANGED otherwise. */
  readonly expect?: number
  /** The most characters of a block of your own: 1,000 by default. */
  readonly limit?: number
  /** `false` stores the text unmasked. */
  readonly redact?: boolean
}

export interface CoreVersion {
  readonly version: number
  /** Absent when the payload was erased. */
  readonly text?: string
  readonly at: number
  readonly actor: string
}

export interface CoreMemory {
  /** The texts of all blocks, by name: persona, human, scratchpad, and those that were set. */
  get(): Promise<Readonly<Record<string, string>>>
  /** One block with its limit and version. */
  get(name: string): Promise<CoreBlock>
  set(name: string, text: string, options?: SetCoreOptions): Promise<CoreBlock>
  /** Adds a line. */
  append(name: string, text: string, options?: SetCoreOptions): Promise<CoreBlock>
  /** Replaces a part of the text, which must occur exactly once. */
  replace(name: string, old: string, by: string, options?: SetCoreOptions): Promise<CoreBlock>
  /** Empties one block, or all. Versions go on counting. */
  reset(name?: string): Promise<void>
  /** The versions of a block, oldest first. A reset is one, with an empty text. */
  history(name: string): Promise<ArrayPage<CoreVersion>>
}

/** The blocks that always exist, and how long they may be. */
const STANDARD: ReadonlyMap<string, number> = new Map([
  ['persona', limits.corePersonaChars],
  ['human', limits.coreHumanChars],
  ['scratchpad', limits.coreScratchpadChars],
])
const NAME = /^[a-z][a-z0-9_-]*$/i
const PAGE = 100

export const coreMemory = (scope: Scope, owner: string, session?: SessionId): CoreMemory => new Core(scope, owner, session)

class Core implements CoreMemory {
  readonly #scope: Scope
  readonly #owner: string
  readonly #session: SessionId | undefined

  constructor(scope: Scope, owner: string, session: SessionId | undefined) {
    this.#scope = scope
    this.#owner = owner
    this.#session = session
  }

  get(): Promise<Readonly<Record<string, string>>>
  get(name: string): Promise<CoreBlock>
  async get(name?: string): Promise<Readonly<Record<string, string>> | CoreBlock> {
    checkOpen(this.#scope.engine)
    if (name !== undefined) {
      const { body } = await this.#read(checkName(name))
      if (!body) await this.#checkThere()
      return toBlock(name, body)
    }
    const texts: Record<string, string> = Object.fromEntries([...STANDARD.keys()].map((standard) => [standard, '']))
    for await (const { body } of everyRow(this.#scope, 'core', { index: 'byOwner', equals: [this.#owner], limit: PAGE })) {
      const row = decodeBody(body)
      if (row.text !== undefined) texts[row.name] = row.text
    }
    if (Object.values(texts).every((text) => text === '')) await this.#checkThere()
    return texts
  }

  set(name: string, text: string, options?: SetCoreOptions): Promise<CoreBlock> {
    return this.#change(name, options, 'core.set', text, () => text)
  }

  append(name: string, text: string, options?: SetCoreOptions): Promise<CoreBlock> {
    return this.#change(name, options, 'core.append', text, (before) => (before === '' ? text : `${before}\n${text}`))
  }

  replace(name: string, old: string, by: string, options?: SetCoreOptions): Promise<CoreBlock> {
    return this.#change(name, options, 'core.replace', by, (before) => {
      const times = typeof old === 'string' && old !== '' ? before.split(old).length - 1 : 0
      if (times !== 1) throw refuse('CORE_TEXT_NOT_FOUND', { name, times })
      return before.replace(old, () => by)
    })
  }

  async reset(name?: string): Promise<void> {
    checkOpen(this.#scope.engine)
    const ids = name === undefined ? await this.#ids() : [this.#idOf(checkName(name))]
    const parts = ids.map((id) => part(coreBlock, id, { verb: 'reset' }, this.#about()))
    const { receipts } = parts.length > 0 ? await plan(this.#scope, parts, this.#options()) : { receipts: [] }
    if (receipts.length === 0) await this.#checkThere()
  }

  async history(name: string): Promise<ArrayPage<CoreVersion>> {
    checkOpen(this.#scope.engine)
    const subject = this.#idOf(checkName(name))
    const versions: CoreVersion[] = []
    let row: CoreRow | undefined
    for await (const records of scanJournal(this.#scope, this.#scope.engine.backend.journal, Number.MAX_SAFE_INTEGER, { subject }))
      for (const record of records) {
        const e = happened(this.#scope, record)
        const evolve = coreBlock.evolve[e.type]
        if (!evolve) continue
        row = evolve(row, e)
        const said = e.type === 'core.reset' ? '' : e.data?.text
        if (row) versions.push({ version: row.version, ...(typeof said === 'string' && { text: said }), at: e.at, actor: e.actor })
      }
    // The events of a block outlive it.
    if (!row) await this.#checkThere()
    return arrayPage(versions)
  }

  async #checkThere(): Promise<void> {
    if (this.#session !== undefined) await checkThere(this.#scope, this.#session)
  }

  async #change(
    name: string,
    options: SetCoreOptions | undefined,
    of: string,
    given: unknown,
    next: (before: string) => string,
  ): Promise<CoreBlock> {
    checkOpen(this.#scope.engine)
    checkName(name)
    const { expect, limit, redact, ...unknown } = optionsOf(options, of)
    checkKnown(unknown, of)
    if (typeof given !== 'string' || !given.isWellFormed()) throw invalidOption('text', 'a text', given)
    checkLimit(name, limit)
    if (expect !== undefined && (!Number.isSafeInteger(expect) || expect < 0)) throw invalidOption('expect', 'a version', expect)
    const make = (row: CoreRow | undefined) => {
      const found = row?.version ?? 0
      if (expect !== undefined && expect !== found) throw refuse('CORE_CHANGED', { name, expect, found })
      const most = limit ?? limitOf(name, row)
      const said = next(row?.text ?? '')
      checkLength(name, said, most)
      const text = (isWhole(redact) ? said : admit(this.#scope, said)) as string
      // A masked secret may be longer than the secret.
      checkLength(name, text, most)
      return { owner: this.#owner, ...(this.#session && { session: this.#session }), name, text, limit: most }
    }
    const parts = [part(coreBlock, this.#idOf(name), { verb: 'set', make }, { ...this.#about(), whole: true })] as const
    return toBlock(name, (await plan(this.#scope, parts, this.#options())).rows[0].body)
  }

  #read(name: string): Promise<DoneRow<CoreRow>> {
    return readRow(this.#scope, 'core', this.#idOf(name))
  }

  async #ids(): Promise<readonly Id<'core'>[]> {
    const ids: Id<'core'>[] = []
    for await (const { id } of everyRow(this.#scope, 'core', { index: 'byOwner', equals: [this.#owner], limit: PAGE }))
      ids.push(id as Id<'core'>)
    return ids
  }

  #idOf(name: string): Id<'core'> {
    return coreId(this.#scope, this.#owner, name)
  }

  #about() {
    return this.#session ? { session: this.#session } : {}
  }

  #options() {
    return this.#session ? { open: this.#session } : {}
  }
}

export const sessionOwner = (session: SessionId): string => `session/${session}`
const coreId = (scope: Scope, owner: string, name: string): Id<'core'> => derivedId(scope, `core/${scope.tenant}/${owner}/${name}`)

const toBlock = (name: string, row: CoreRow | undefined): CoreBlock => ({
  name,
  text: row?.text ?? '',
  limit: limitOf(name, row),
  version: row?.version ?? 0,
  ...(row && { changedAt: row.changedAt }),
})

/** A block whose payloads were erased has lost its own limit. */
const limitOf = (name: string, row: CoreRow | undefined): number => row?.limit || STANDARD.get(name) || limits.coreBlockChars

function checkName(name: unknown): string {
  if (typeof name === 'string' && NAME.test(name) && name.length <= limits.coreNameChars) return name
  throw invalidOption('name', `a letter, then letters, digits, '-' and '_', at most ${limits.coreNameChars}`, name)
}

function checkLength(name: string, text: string, most: number): void {
  const found = [...text].length
  if (found > most) throw refuse('CORE_TOO_LONG', { name, limit: most, found })
}

function checkLimit(name: string, limit: unknown): void {
  if (limit === undefined) return
  if (STANDARD.has(name)) throw invalidOption('limit', 'none for the blocks persona, human and scratchpad', limit)
  if (!Number.isInteger(limit) || (limit as number) < 1 || (limit as number) > limits.coreBlockCharsMost)
    throw invalidOption('limit', `an integer from 1 to ${limits.coreBlockCharsMost}`, limit)
}

/** A fork begins with core memory as it stood at the fork point. */
export async function forkCore(scope: Scope, fork: Fork) {
  const rows = await forkedRows(scope, coreBlock, fork)
  return rows
    .filter(({ row }) => row.text !== undefined)
    .map(({ row: { name, text, limit, version } }) => {
      const owner = sessionOwner(fork.to)
      const block = { owner, session: fork.to, name, text: text as string, limit, version }
      return part(coreBlock, coreId(scope, owner, name), { verb: 'copy', block }, { session: fork.to, whole: true })
    })
}

/** Removes the core memory of a session that is being deleted. */
export async function clearCore(scope: Scope, session: SessionId): Promise<void> {
  for await (const rows of everyPage(scope, 'core', { index: 'bySession', equals: [session], limit: PAGE })) {
    if (rows.length === 0) continue
    await plan(
      scope,
      rows.map(({ id }) => part(coreBlock, id as Id<'core'>, { verb: 'clear' })),
    )
  }
}
