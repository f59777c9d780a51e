// Migrates any released schema to this one: each step in its own transaction, under one lock, checked by its checksum. A step names the
// nodes that may keep running once it is applied, so that rolling upgrades need no downtime.

import { createHash, randomBytes } from 'node:crypto'
import { fromHex, sameBytes } from '../../model/bytes.ts'
import { refuse } from '../../model/errors.ts'
import { keyOfPad, padsOf } from '../../model/hmac.ts'
import type { Cells, Connection } from './connections.ts'
import { codeOf, translate } from './failures.ts'
import { migrationFiles, roles } from './migration-files.ts'

export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
  /** The oldest schema whose nodes may keep running once it is applied. */
  readonly serves: number
}

export interface Applied {
  readonly number: number
  readonly name: string
  readonly checksum: string
  readonly serves: number
  readonly appliedAt: number
}

export const migrations: readonly Migration[] = migrationFiles.map(([file, sql]) => {
  const number = Number(file.slice(0, 4))
  const serves = Number(/^-- serves: (\d+)$/m.exec(sql)?.[1] ?? number)
  return { number, name: file.slice(5, -4), sql, serves, checksum: createHash('sha256').update(sql).digest('hex') }
})

/** The oldest schema that this release works with, and the newest that it knows. */
export const schemaRange = { needs: 1, knows: migrations.at(-1)?.number ?? 0 } as const

// One advisory lock for all migrations: 'inkfast' as a number.
const LOCK = 0x696e6b66617374n
const TIMEOUT_MS = 600_000
const TRIES = 5
// A statement that waits for a table blocks all later ones. So a step waits only this long, lets the others through, and tries again.
const STEP_WAITS_MS = 2000
const STEP_TRIES = 30
const STEP_RESTS_MS = 500

// From PostgreSQL 16 on, a login that creates a role may become it only with this setting.
const becomeWhatIsMade = `
  select set_config('createrole_self_grant', 'set, inherit', true) where current_setting('server_version_num')::integer >= 160000`

// A schema of this name may belong to someone else and contain anything, so nothing in it is called.
const isThere = `
  select pg_get_userbyid(n.nspowner), exists (
    select 1 from pg_class c where c.relnamespace = n.oid and c.relname = 'migrations' and c.relkind = 'r' and c.relowner = n.nspowner)
  from pg_namespace n where n.nspname = 'inkfast'`
const appliedRows = 'select number, name, checksum, serves, applied_at from inkfast.migrations order by number'

export async function readApplied(connection: Connection, place: string): Promise<readonly Applied[]> {
  const [found] = await connection.run([{ text: isThere }], TIMEOUT_MS)
  const [owner, there] = found?.[0] ?? []
  if (owner && owner !== 'inkfast_owner')
    throw refuse('DATABASE_UNSUITABLE', { place, why: `its schema inkfast belongs to ${owner}; give Inkfast a database of its own` })
  if (there !== 't') return []
  const [rows = []] = await connection.run([{ text: appliedRows }], TIMEOUT_MS)
  return rows.map(([number, name, checksum, serves, at]) => ({
    number: Number(number),
    name: name as string,
    checksum: checksum as string,
    serves: Number(serves),
    appliedAt: Number(at),
  }))
}

/** Throws if this release cannot work with the schema found. 0 means that there is none. */
export function checkSchema(
  place: string,
  applied: readonly Applied[],
  range: { readonly needs: number; readonly knows: number } = schemaRange,
): void {
  const newest = applied.at(-1)
  const found = newest?.number ?? 0
  if (found < range.needs) throw refuse('SCHEMA_OLDER', { path: place, found, needed: range.needs })
  if (newest && newest.serves > range.knows) throw refuse('SCHEMA_NEWER', { path: place, found, known: range.knows })
  checkChecksums(place, applied, migrations)
}

/** Every step of this release is applied. */
export const isCurrent = (applied: readonly Applied[]): boolean => migrations.every((step) => isApplied(applied, step))

export interface MigrateOptions {
  readonly place: string
  readonly now: () => number
  readonly steps?: readonly Migration[]
  readonly progress?: (migration: Migration) => void
  /** How long a step waits for a table before it lets others through and tries again. */
  readonly waitsMs?: number
}

/** Applies the missing steps and returns them. Several processes may run it at once. */
export async function migrate(connection: Connection, options: MigrateOptions): Promise<readonly Migration[]> {
  const done: Migration[] = []
  for (let attempt = 1; ; attempt++) {
    try {
      await migrateOnce(connection, options, done)
      return done
    } catch (error) {
      // A broken connection has rolled back by itself, and the first error says more than the second.
      await connection.script('rollback').catch(() => undefined)
      const tries = isInTheWay(error) ? TRIES : isLocked(error) ? STEP_TRIES : 0
      if (attempt >= tries) throw translate(options.place, error, 'reading')
      if (isLocked(error)) await new Promise((resolve) => setTimeout(resolve, Math.random() * STEP_RESTS_MS))
    }
  }
}

/** Roles belong to the whole server, so preparing two databases at the same moment may collide. */
const isInTheWay = (error: unknown): boolean =>
  codeOf(error) === 'XX000' && error instanceof Error && error.message.includes('concurrently')

const isLocked = (error: unknown): boolean => codeOf(error) === '55P03'

async function migrateOnce(
  connection: Connection,
  { place, now, steps = migrations, progress, waitsMs = STEP_WAITS_MS }: MigrateOptions,
  done: Migration[],
): Promise<void> {
  const before = await readApplied(connection, place)
  checkChecksums(place, before, steps)
  // The usual case: nothing is locked and nothing is written.
  if (steps.every((step) => isApplied(before, step))) return
  if (before.length === 0) await connection.script(`${beginAlone(waitsMs)}; ${becomeWhatIsMade}; ${roles}; commit`)
  for (const step of steps) {
    await connection.script(beginAlone(waitsMs))
    const applied = await readApplied(connection, place)
    checkChecksums(place, applied, steps)
    const missing = !isApplied(applied, step)
    if (missing) {
      progress?.(step)
      await connection.script(step.sql)
      const values = [step.number, step.name, step.checksum, step.serves, now()]
      const note = 'insert into inkfast.migrations (number, name, checksum, serves, applied_at) values ($1, $2, $3, $4, $5)'
      await connection.run([{ text: 'set local role inkfast_owner' }, { text: note, values }], TIMEOUT_MS)
    }
    await connection.script('commit')
    if (missing) done.push(step)
  }
}

/** Begins a transaction that excludes other migrations, with a lock timeout. */
const beginAlone = (waitsMs: number): string =>
  `begin; set local search_path = pg_catalog, pg_temp; set local lock_timeout = ${waitsMs}; select pg_advisory_xact_lock(${LOCK})`

const isApplied = (applied: readonly Applied[], step: Migration): boolean => applied.some(({ number }) => number === step.number)

function checkChecksums(place: string, applied: readonly Applied[], steps: readonly Migration[]): void {
  for (const { number, checksum } of applied) {
    const known = steps.find((step) => step.number === number)
    if (known && known.checksum !== checksum) throw refuse('SCHEMA_CHANGED', { path: place, migration: number })
  }
}

const KEY_BYTES = 32
const KEY_WAITS_MS = 10_000
// The two newest keys are valid, so that a key can be changed while nodes still sign with the previous one.
const KEYS_KEPT = 2

export interface WallKey {
  readonly key: Uint8Array
  /** The key was not registered before. */
  readonly added: boolean
}

const keysOf = { text: `select encode(inner_pad, 'hex') from inkfast.wall_keys order by made_at desc, id desc` }

/** The registered key that is the given one, or the newest. */
function chosen(rows: readonly Cells[], given: Uint8Array | undefined): Uint8Array | undefined {
  const known = rows.map(([pad]) => keyOfPad(fromHex(pad as string)))
  return given ? known.find((key) => sameBytes(key, keyOfPad(padsOf(given).inner))) : known[0]
}

/**
 * Returns the key that signs tenants: the given one, the newest registered one, or a new one. An unknown given key is registered if there
 * is none yet, or if `change` is set. Otherwise it is wrong, and undefined is returned.
 */
export async function wallKey(
  connection: Connection,
  given: Uint8Array | undefined,
  now: number,
  change: boolean,
): Promise<WallKey | undefined> {
  // The usual case: the key is there, so nothing is locked and nothing is written.
  const [, before = []] = await connection.run([{ text: 'set local role inkfast_wall' }, keysOf], TIMEOUT_MS)
  const there = chosen(before, given)
  if (there) return { key: there, added: false }
  await connection.script(`${beginAlone(KEY_WAITS_MS)}; set local role inkfast_wall`)
  try {
    const [rows = []] = await connection.run([keysOf], TIMEOUT_MS)
    const kept = chosen(rows, given)
    const key = kept ?? given ?? randomBytes(KEY_BYTES)
    const wrong = !kept && rows.length > 0 && !change
    if (!kept && !wrong) {
      const { inner, outer } = padsOf(key)
      const id = `${String(now).padStart(15, '0')}-${randomBytes(4).toString('hex')}`
      // Made later than all others, whatever our clock says; otherwise the new key could be the one that is deleted.
      const insert = `
        insert into inkfast.wall_keys (id, inner_pad, outer_pad, made_at)
        select $1, $2, $3, greatest($4::bigint, coalesce(max(made_at) + 1, 0)) from inkfast.wall_keys`
      const forget =
        'delete from inkfast.wall_keys where id not in (select id from inkfast.wall_keys order by made_at desc, id desc limit $1)'
      await connection.run(
        [
          { text: insert, values: [id, inner, outer, now] },
          { text: forget, values: [KEYS_KEPT] },
        ],
        TIMEOUT_MS,
      )
    }
    await connection.script('commit')
    return wrong ? undefined : { key, added: !kept }
  } catch (error) {
    await connection.script('rollback')
    throw error
  }
}
