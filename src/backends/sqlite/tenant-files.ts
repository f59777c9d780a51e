// File names in a folder store. Ids are case-sensitive and some file systems are not, so a capital letter is written as + and its lower
// case. The fixed prefix and suffix avoid names that an operating system reserves.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isTenant, type TenantId } from '../../model/ids.ts'
import { compareText } from '../../model/order.ts'
import { STORE_FILE } from './create.ts'
import { pathError } from './open.ts'

export { STORE_FILE }

const NAME = /^tenant-((?:[a-z0-9._-]|\+[a-z])+)\.db$/

const named = (tenant: TenantId, ending: string): string =>
  `tenant-${tenant.replace(/[A-Z]/g, (letter) => `+${letter.toLowerCase()}`)}.${ending}`

export const tenantFile = (tenant: TenantId): string => named(tenant, 'db')

/** The folder of blobs beside a store's file, and the folder of one tenant in it. */
export const blobFolder = (file: string): string => `${file}.blobs`
export const tenantFolder = (tenant: TenantId): string => named(tenant, 'blobs')

export function tenantOf(name: string): TenantId | undefined {
  const id = NAME.exec(name)?.[1]?.replace(/\+[a-z]/g, (letter) => (letter[1] as string).toUpperCase())
  return isTenant(id) ? id : undefined
}

/** Ordered by id. */
export function tenantsIn(folder: string): readonly TenantId[] {
  try {
    return readdirSync(folder)
      .map(tenantOf)
      .filter((id) => id !== undefined)
      .sort(compareText)
  } catch (error) {
    throw pathError(folder, error)
  }
}

export function isFolderStore(path: string): boolean {
  try {
    return statSync(join(path, STORE_FILE), { throwIfNoEntry: false })?.isFile() ?? false
  } catch {
    // An error on the path is reported when the path is opened.
    return false
  }
}
