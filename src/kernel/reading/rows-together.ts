// Rows that are asked for in the same tick are read in one round trip.

import { InkError } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import type { StoredRow } from '../../model/rows.ts'
import type { RowKey, RowReads } from '../../ports/rows.ts'
import { enginePart } from '../wiring/per-engine.ts'

interface Asking extends RowKey {
  readonly answer: (row: StoredRow | undefined) => void
  readonly fail: (error: unknown) => void
}

// Many enough to save round trips, few enough that no caller waits long for the others.
const KEYS_MOST = 64

export class RowsTogether {
  readonly #rows: Pick<RowReads, 'get' | 'getMany'>
  readonly #asking = new Map<TenantId, Asking[]>()

  constructor(rows: Pick<RowReads, 'get' | 'getMany'>) {
    this.#rows = rows
  }

  read(tenant: TenantId, key: RowKey): Promise<StoredRow | undefined> {
    return new Promise((answer, fail) => {
      const one = { ...key, answer, fail }
      const asking = this.#asking.get(tenant)
      if (asking) asking.push(one)
      else {
        this.#asking.set(tenant, [one])
        void Promise.resolve().then(() => this.#leave(tenant))
      }
    })
  }

  #leave(tenant: TenantId): void {
    const asking = this.#asking.get(tenant) ?? []
    this.#asking.delete(tenant)
    for (let at = 0; at < asking.length; at += KEYS_MOST) this.#ask(tenant, asking.slice(at, at + KEYS_MOST))
  }

  #ask(tenant: TenantId, some: readonly Asking[]): void {
    const alone = ({ table, id, answer, fail }: Asking) => void this.#rows.get(tenant, table, id).then(answer, fail)
    const [first] = some
    if (first && some.length === 1) alone(first)
    else
      this.#rows.getMany(tenant, some).then(
        (rows) => {
          for (const [i, { answer }] of some.entries()) answer(rows[i])
        },
        (error: unknown) => {
          // A closed tenant shows none of them. Any other failure may be of one row alone, and must not fail those who asked for others.
          const isClosed = error instanceof InkError && error.code === 'TENANT_CLOSED'
          for (const one of some) isClosed ? one.fail(error) : alone(one)
        },
      )
  }
}

export const rowsTogether = enginePart(({ backend }) => new RowsTogether(backend.rows))
