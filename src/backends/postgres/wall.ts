// Names a tenant to the database: a setting signed with a key. The database checks the signature, and a login that merely runs SQL cannot
// read the key.

import { hex, utf8 } from '../../model/bytes.ts'
import { hmac } from '../../model/hmac.ts'
import type { TenantId } from '../../model/ids.ts'
import type { TenantState } from '../../model/tenant.ts'
import { sha256 } from './sha256.ts'

/** The store itself, for data of no tenant. No tenant can have this name. */
export const STORE = '*'

/** Tenants of the isolation test at start-up. No tenant can have these names. */
export const CANARY = '~canary' as TenantId
export const STRANGER = '~stranger' as TenantId

const REMEMBERED = 10_000

export class Wall {
  readonly #key: Uint8Array
  readonly #macs = new Map<string, string>()

  constructor(key: Uint8Array) {
    this.#key = key
  }

  /** For reads: the database refuses it while the tenant is suspended or deleted. */
  tenant(id: TenantId | typeof STORE): string {
    return this.#sign(id)
  }

  /** For commits, which check the tenant's state themselves, under the lock of its head. */
  whatever(id: TenantId): string {
    return this.#sign(`${id}!`)
  }

  /** A change of a tenant's state, which SQL slipped into its transactions cannot sign. */
  state(id: TenantId, state: TenantState): string {
    return `${state}:${this.#mac(`inkfast/1/state:${id}:${state}`)}`
  }

  /** The name of a tenant in notifications: a listener without the key learns no tenant names. */
  signal(id: TenantId): string {
    return this.#mac(`inkfast/1/signal:${id}`).slice(0, 32)
  }

  #sign(who: string): string {
    return `${who}:${this.#mac(`inkfast/1/tenant:${who}`)}`
  }

  /** Cached: every commit needs the same few, and computing one costs as much as sending it. */
  #mac(text: string): string {
    const known = this.#macs.get(text)
    if (known !== undefined) return known
    const mac = hex(hmac(sha256, this.#key, utf8(text)))
    if (this.#macs.size >= REMEMBERED) this.#macs.clear()
    this.#macs.set(text, mac)
    return mac
  }
}
