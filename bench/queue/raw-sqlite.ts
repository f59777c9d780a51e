// The floor of a queue: what a careful programmer would write by hand on node:sqlite for the same rows and events. Same columns and indexes, ids, salts
// and hashes, one transaction for a claim and one for a completion, a flush each; no checks, no redaction, no recovery, nobody woken.

import { randomBytes } from 'node:crypto'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { sha256 } from '../../src/backends/sqlite/sha256.ts'
import { eventDigest, GENESIS, linkHash, payloadDigest } from '../../src/model/chain.ts'
import type { EventHeader } from '../../src/model/event.ts'
import { type Id, idBytes, idMaker } from '../../src/model/ids.ts'
import type { Row, Sample, Step } from './sample.ts'
import { type Contestant, worked } from './workers.ts'

const TENANT = 'main'
const LEASE_MS = 30_000
const SALT = 16

export class RawQueue implements Contestant {
  readonly #db: DatabaseSync
  readonly #sample: Sample
  readonly #newId = idMaker(Date.now, (count) => randomBytes(count))
  readonly #statements: Readonly<Record<'offer' | 'next' | 'claim' | 'complete' | 'event' | 'left', StatementSync>>
  readonly #claimedColumns: readonly string[]
  readonly settings: string
  #seq = 0
  #hash = GENESIS
  #salts = new Uint8Array(0)
  #saltsUsed = 0

  constructor(path: string, sample: Sample) {
    this.#sample = sample
    this.#db = new DatabaseSync(path)
    this.#db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -65536')
    this.#db.exec(sample.schema)
    const [offered, claimed] = [sample.offered.row ?? {}, sample.claimed.row ?? {}]
    // What a claim changes, and nothing else.
    this.#claimedColumns = Object.keys(claimed).filter((name) => claimed[name] !== offered[name])
    const prepare = (sql: string) => this.#db.prepare(sql)
    this.#statements = {
      offer: prepare(insertInto('work', offered)),
      next: prepare(`
        select id, body from work where tenant = ? and queue = ? and state = ? and priority = ? and at <= ?
        order by at, born, id limit 1`),
      claim: prepare(`update work set ${this.#claimedColumns.map((name) => `${name} = ?`).join(', ')} where tenant = ? and id = ?`),
      complete: prepare('delete from work where tenant = ? and id = ? and fence = ?'),
      event: prepare(insertInto('events', sample.offered.events[0] ?? {})),
      left: prepare('select count(*) as n from work'),
    }
    const pragma = (name: string) => Object.values(this.#db.prepare(`pragma ${name}`).get() ?? {})[0]
    this.settings = ['journal_mode', 'synchronous', 'wal_autocheckpoint'].map((name) => `${name} = ${pragma(name)}`).join(', ')
  }

  async fill(count: number): Promise<void> {
    this.#transaction(() => {
      for (let i = 0; i < count; i++) this.#offer()
    })
  }

  async left(): Promise<number> {
    return this.#statements.left.get()?.n as number
  }

  /** SQLite has one writer, so several workers stand in a queue for it. */
  worked(workers: number, count: number): Promise<number> {
    return worked(workers, count, async () => {
      const claim = this.#claim()
      if (!claim) return false
      this.#complete(claim)
      return true
    })
  }

  close(): void {
    this.#db.close()
  }

  #offer(): void {
    const id = this.#newId<'work'>()
    this.#record(this.#sample.offered, id)
    this.#statements.offer.run(...Object.values({ ...this.#sample.offered.row, tenant: TENANT, id, born: this.#seq }))
  }

  #claim(): { readonly id: Id; readonly fence: number } | undefined {
    const { queue, state, priority } = this.#sample.offered.row as Row
    return this.#transaction(() => {
      const now = Date.now()
      const found = this.#statements.next.get(TENANT, queue as string, state as string, priority as number, now)
      if (!found) return undefined
      const id = found.id as Id
      this.#record(this.#sample.claimed, id)
      const row: Row = { ...this.#sample.claimed.row, fence: this.#seq, at: now + LEASE_MS }
      this.#statements.claim.run(...this.#claimedColumns.map((name) => row[name] as SQLInputValue), TENANT, id)
      return { id, fence: this.#seq }
    })
  }

  #complete({ id, fence }: { readonly id: Id; readonly fence: number }): void {
    this.#transaction(() => {
      this.#record(this.#sample.completed, id)
      if (this.#statements.complete.run(TENANT, id, fence).changes !== 1) throw new Error('the floor lost an item')
    })
  }

  /** The events of a step, linked to what was there. */
  #record({ events }: Step, subject: Id): void {
    for (const sample of events) {
      const {
        type,
        schema,
        class: kind,
        actor,
        payload,
      } = sample as Row & Pick<EventHeader, 'type' | 'schema' | 'class' | 'actor'> & { readonly payload: string }
      const salt = this.#salt()
      const digest = payloadDigest(sha256, salt, payload)
      const header: EventHeader = { id: this.#newId<'event'>(), at: Date.now(), type, schema, class: kind, actor, subject }
      const seq = this.#seq + 1
      const hash = linkHash(sha256, this.#hash, seq, eventDigest(sha256, TENANT, header, digest))
      const own = { tenant: TENANT, seq, id: idBytes(header.id), at: header.at, subject: idBytes(subject), salt, digest, hash }
      this.#statements.event.run(...Object.values({ ...sample, ...own }))
      this.#seq = seq
      this.#hash = hash
    }
  }

  #transaction<T>(work: () => T): T {
    this.#db.exec('begin immediate')
    const result = work()
    this.#db.exec('commit')
    return result
  }

  #salt(): Uint8Array {
    if (this.#saltsUsed + SALT > this.#salts.length) {
      this.#salts = randomBytes(SALT * 256)
      this.#saltsUsed = 0
    }
    this.#saltsUsed += SALT
    return this.#salts.subarray(this.#saltsUsed - SALT, this.#saltsUsed)
  }
}

const insertInto = (table: string, like: Row): string => {
  const columns = Object.keys(like)
  return `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`
}
