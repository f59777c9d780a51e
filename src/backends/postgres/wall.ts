// Naming a tenant to the database: a setting signed with a key that the database checks and nobody who merely runs SQL can read.

import { hex, utf8 } from '../../model/bytes.ts'
import { hmac } from '../../model/hmac.ts'
import type { TenantId } from '../../model/ids.ts'
import { sha256 } from './sha256.ts'

/** The store itself: what belongs to no tenant. No tenant can have this name. */
export const STORE = '*'

/** Planted and looked for at start-up. No tenant can have these names. */
export const CANARY = '~canary' as TenantId
export const STRANGER = '~stranger' as TenantId

const REMEMBERED = 10_000

export class Wall {
  readonly #key: Uint8Array
  readonly #macs = new Map<string, string>()

  constructor(key: Uint8Array) {
    this.#key = key
  }

  /** For reading: whoever enters with it is refused while the tenant is suspended or deleted. */
  tenant(id: TenantId | typeof STORE): string {
    return this.#sign(id)
  }

  /** For commits, which look at the tenant's state themselves, under the lock of its head. */
  whatever(id: TenantId): string {
    return this.#sign(`${id}!`)
  }

  /** What nodes call a tenant when they wake each other: whoever listens without the key learns no names. */
  signal(id: TenantId): string {
    return this.#mac(`inkfast/1/signal:${id}`).slice(0, 32)
  }

  #sign(who: string): string {
    return `${who}:${this.#mac(`inkfast/1/tenant:${who}`)}`
  }

  /** Every commit asks for the same few, and making one costs as much as sending it. */
  #mac(text: string): string {
    const known = this.#macs.get(text)
    if (known !== undefined) return known
    const mac = hex(hmac(sha256, this.#key, utf8(text)))
    if (this.#macs.size >= REMEMBERED) this.#macs.clear()
    this.#macs.set(text, mac)
    return mac
  }
}
