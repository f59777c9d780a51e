// The database for the rest of the backend: every statement runs for a tenant or for the store itself, in the app role. Errors are
// translated.

import { refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Cells, Connection, Connections, Step, Value } from './connections.ts'
import { codeOf, isLost, isPassing, isStalePlan, isStartingUp, translate } from './failures.ts'
import { NoAnswer } from './pool.ts'
import { ReadBatcher } from './read-batcher.ts'
import type { STORE, Wall } from './wall.ts'
import { WriteConnection } from './write-connection.ts'

export type Somebody = TenantId | typeof STORE

export interface DatabaseOptions {
  readonly connections: Connections
  readonly wall: Wall
  /** The role for statements; absent if the login has that role already. */
  readonly role?: string
  readonly timeoutMs?: number
  readonly readOnly?: boolean
  readonly loginTimeouts?: LoginTimeouts
}

const TIMEOUT_MS = 20_000
// Retries of a deadlock or a serialization failure.
const TRIES = 5
const FIRST_WAIT_MS = 4

// Well below the timeout of a commit.
const START_UP_MS = 5000
const START_UP_LOOK_MS = 50

const READ_ONLY = '25006'
const CANCELLED = '57014'

/** The timeouts of the login, as the server shows them on a new connection. */
export interface LoginTimeouts {
  readonly statement: string
  readonly lock: string
}

const NO_TIMEOUTS: LoginTimeouts = { statement: '0', lock: '0' }

/**
 * Settings of every transaction, whatever an earlier one left on the connection. Names are restricted to the server's own schema: an
 * attacker could otherwise define a better matching function or type and read along. Text and arrays are read as they were sent, and the
 * wall hides rows instead of refusing them.
 */
const guarding = ({ statement, lock }: LoginTimeouts): readonly string[] => [
  `'search_path', 'pg_catalog, pg_temp'`,
  `'client_encoding', 'UTF8'`,
  `'array_nulls', 'on'`,
  `'standard_conforming_strings', 'on'`,
  `'row_security', 'on'`,
  `'statement_timeout', '${statement}'`,
  `'lock_timeout', '${lock}'`,
]

/** Uses an index in its order. Otherwise a plan made for an empty table would scan and sort it, and stay cached after it has grown. */
export const BY_INDEX: readonly string[] = [`'enable_seqscan', 'off'`, `'enable_sort', 'off'`, `'jit', 'off'`]

const nameOf = (nameAndValue: string): string => nameAndValue.slice(0, nameAndValue.indexOf(','))
const setting = (nameAndValue: string): string => `pg_catalog.set_config(${nameAndValue}, true)`

const entering = (timeouts: LoginTimeouts): string =>
  `select ${[...guarding(timeouts), ...BY_INDEX].map(setting).join(', ')}, inkfast.enter_v1($1)`

const ENTER = entering(NO_TIMEOUTS)

/** The step that enters a tenant for the rest of the transaction. */
export const enter = (token: string, text: string = ENTER): Step => ({ text, values: [token], tenant: nameIn(token), prepared: true })

/** The tenant of a signed setting, whatever its state. */
const nameIn = (token: string): string => token.slice(0, -65).replace(/!$/, '')

/** Settings of one transaction beyond the usual ones, set together with the role in one statement. */
export interface Opening {
  /** Names and values as `set_config` takes them; a value may be a parameter. */
  readonly settings: readonly string[]
}

const NOTHING: Opening = { settings: [] }

export class Database {
  readonly connections: Connections
  readonly wall: Wall
  readonly readOnly: boolean
  readonly #role: string | undefined
  readonly #timeoutMs: number
  readonly #writer = new WriteConnection()
  readonly #guarding: readonly string[]
  readonly #enterText: string
  /** The login has a statement timeout of its own, so a cancelled statement is no sign of a setting left behind. */
  readonly #timed: boolean
  readonly #batcher = new ReadBatcher((token, steps) => this.#readAs(token, steps))
  /** The statement texts, built once: prepared statements are found by their text. */
  readonly #openings = new WeakMap<Opening, string>()
  #prepares = true
  #closed = false

  constructor({ connections, wall, role, timeoutMs = TIMEOUT_MS, readOnly = false, loginTimeouts = NO_TIMEOUTS }: DatabaseOptions) {
    this.#guarding = guarding(loginTimeouts)
    this.#enterText = entering(loginTimeouts)
    this.#timed = loginTimeouts.statement !== '0'
    this.connections = connections
    this.wall = wall
    this.readOnly = readOnly
    this.#role = role
    this.#timeoutMs = timeoutMs
  }

  get place(): string {
    return this.connections.place
  }

  /** A store that was opened to be read writes nothing. The database would refuse it as a missing privilege. */
  checkWritable(): void {
    if (this.readOnly) throw refuse('DATABASE_READ_ONLY', { place: this.place, reason: 'it was opened with readOnly' })
  }

  /** Enters a tenant with the timeouts of this login. */
  enter(token: string): Step {
    return enter(token, this.#enterText)
  }

  /** Reads for a tenant or the store, in one round trip with entering. */
  async read(who: Somebody, ...steps: readonly Step[]): Promise<readonly (readonly Cells[])[]> {
    return this.#readAs(this.wall.tenant(who), steps)
  }

  /** Like `read`, and checks at the end that the tenant is still open: it may be closed after entering, and later data must not be read. */
  async readWhileOpen(who: Somebody, ...steps: readonly Step[]): Promise<readonly (readonly Cells[])[]> {
    const still = this.enter(this.wall.tenant(who))
    const results = await this.run([still, ...steps, still], 'reading')
    return results.slice(1, -1)
  }

  /** For small, frequent reads: reads of the same tenant share a round trip. */
  readSmall(who: Somebody, ...steps: readonly Step[]): Promise<readonly (readonly Cells[])[]> {
    return this.#batcher.read(this.wall.tenant(who), steps)
  }

  /** Like `readSmall`, in any tenant state: for the head and for commits. */
  readWhatever(who: TenantId, ...steps: readonly Step[]): Promise<readonly (readonly Cells[])[]> {
    return this.#batcher.read(this.wall.whatever(who), steps)
  }

  async #readAs(token: string, steps: readonly Step[]): Promise<readonly (readonly Cells[])[]> {
    const results = await this.run([this.enter(token), ...steps], 'reading')
    return results.slice(1)
  }

  /** Runs steps in the app role, in one round trip and one transaction. Reads are retried when a connection breaks. */
  async run(
    steps: readonly Step[],
    what: 'reading' | 'writing',
    opening?: Opening,
    values: readonly Value[] = [],
  ): Promise<readonly (readonly Cells[])[]> {
    let spoiled = false
    for (let attempt = 1; ; attempt++) {
      const connection = (what === 'writing' && this.#writer.take()) || (await this.acquire())
      let broken = false
      try {
        return await this.send(connection, steps, { opening, values })
      } catch (error) {
        const lost = isLost(error)
        const first: boolean = !spoiled && this.#isSpoiled(error)
        spoiled ||= first
        broken = lost || first
        // A transaction pooler loses prepared statements, so preparing is switched off.
        if (isStalePlan(error) && codeOf(error) !== '0A000') this.#prepares = false
        const again = first || isPassing(error) || isStalePlan(error) || (what === 'reading' && lost && !(error instanceof NoAnswer))
        if (!again || attempt >= TRIES) throw translate(this.place, error, what)
      } finally {
        if (broken || what === 'reading' || this.#closed) connection.release(broken)
        else this.#writer.keep(connection)
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * FIRST_WAIT_MS * 2 ** attempt))
    }
  }

  /**
   * A setting of the session, left behind by an earlier transaction, may have failed the steps before they could set their own: it allows
   * reading only, or cancels statements. The connection is discarded, and the steps are tried once more on another.
   */
  #isSpoiled(error: unknown): boolean {
    const code = codeOf(error)
    return (code === READ_ONLY && !this.readOnly) || (code === CANCELLED && !this.#timed)
  }

  /**
   * Runs steps on a held connection: inside `begin` the role is set already. Nothing is prepared there, because a statement that is missing
   * behind a pooler would end the transaction, which cannot be retried.
   */
  async send(
    connection: Connection,
    steps: readonly Step[],
    {
      held = false,
      opening,
      values = [],
    }: { readonly held?: boolean; readonly opening?: Opening | undefined; readonly values?: readonly Value[] } = {},
  ): Promise<readonly (readonly Cells[])[]> {
    const asked = this.#prepares && !held ? steps : steps.map(({ prepared: _, ...step }) => step)
    const first = held ? undefined : this.#become(opening, values)
    const results = await connection.run(first ? [first, ...asked] : asked, this.#timeoutMs)
    // Only SQL that was slipped in can do this. An acknowledged write would be lost.
    if (!held && connection.isOpen?.()) throw new NoAnswer(`${this.place} left a transaction open, so nothing was saved`)
    return first ? results.slice(1) : results
  }

  /** Undefined if the login is the app role and there are no settings. */
  #become(opening: Opening = NOTHING, values: readonly Value[] = []): Step | undefined {
    const known = this.#openings.get(opening)
    const text = known ?? this.#becoming(opening)
    if (known === undefined) this.#openings.set(opening, text)
    return text === '' ? undefined : { text, values, prepared: this.#prepares }
  }

  #becoming(opening: Opening): string {
    const role = this.#role === undefined ? [] : [`'role', '${this.#role}'`]
    const isSet = (guard: string): boolean => opening.settings.some((own) => nameOf(own) === nameOf(guard))
    const settings = [...role, ...(opening === NOTHING ? [] : [...this.#guarding.filter((guard) => !isSet(guard)), ...opening.settings])]
    return settings.length === 0 ? '' : `select ${settings.map(setting).join(', ')}`
  }

  async acquire(): Promise<Connection> {
    if (this.#closed) throw refuse('STORE_CLOSED')
    const since = performance.now()
    for (;;) {
      try {
        return await this.connections.acquire()
      } catch (error) {
        // A recovering server says so and is back soon, so callers wait for it.
        if (!isStartingUp(error) || performance.now() - since > START_UP_MS) throw translate(this.place, error, 'connecting')
      }
      await new Promise((resolve) => setTimeout(resolve, START_UP_LOOK_MS))
    }
  }

  /** Several round trips in one transaction, for maintenance only: no other transaction waits for a client. */
  hold(who: Somebody, begin: string): Promise<Held> {
    return this.#holdAs(this.wall.tenant(who), begin)
  }

  holdWhatever(who: TenantId, begin: string): Promise<Held> {
    return this.#holdAs(this.wall.whatever(who), begin)
  }

  async #holdAs(token: string, begin: string): Promise<Held> {
    const connection = await this.acquire()
    const run = async (...steps: readonly Step[]) => {
      try {
        return await this.send(connection, steps, { held: true })
      } catch (error) {
        throw translate(this.place, error, 'reading')
      }
    }
    let ended = false
    const end = async (how: 'commit' | 'rollback') => {
      if (ended) return
      ended = true
      let broken = true
      try {
        await run({ text: how })
        broken = false
      } finally {
        connection.release(broken)
      }
    }
    try {
      const become = this.#become()
      // Folding pauses between two reads, which must not end the transaction.
      const patient = { text: `select set_config('idle_in_transaction_session_timeout', '0', true)` }
      await run({ text: begin }, ...(become ? [become] : []), patient, this.enter(token))
    } catch (error) {
      await end('rollback')
      throw error
    }
    return { run, commit: () => end('commit'), rollback: () => end('rollback') }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#writer.release()
    await this.connections.close()
  }
}

export interface Held {
  run(...steps: readonly Step[]): Promise<readonly (readonly Cells[])[]>
  commit(): Promise<void>
  rollback(): Promise<void>
}
