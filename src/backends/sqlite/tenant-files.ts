// The names in a folder that keeps a file for each tenant. Ids are case-sensitive and file systems need not be, so a capital letter is
// written as + and the small one; with an ending and a beginning of ours no name is one that a system keeps for itself.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isTenant, type TenantId } from '../../model/ids.ts'
import { compareText } from '../../model/order.ts'
import { pathError } from './open.ts'

/** What the store itself needs, and the sign that a folder is one of ours. */
export const STORE_FILE = 'inkfast-folder.db'

const NAME = /^tenant-((?:[a-z0-9._-]|\+[a-z])+)\.db$/

const named = (tenant: TenantId, ending: string): string =>
  `tenant-${tenant.replace(/[A-Z]/g, (letter) => `+${letter.toLowerCase()}`)}.${ending}`

export const tenantFile = (tenant: TenantId): string => named(tenant, 'db')

/** Where the blobs of a store lie, beside its file; and in there those of a tenant. */
export const blobFolder = (file: string): string => `${file}.blobs`
export const tenantFolder = (tenant: TenantId): string => named(tenant, 'blobs')

export function tenantOf(name: string): TenantId | undefined {
  const id = NAME.exec(name)?.[1]?.replace(/\+[a-z]/g, (letter) => (letter[1] as string).toUpperCase())
  return isTenant(id) ? id : undefined
}

/** In the order of their ids. */
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
    // What is on the way to it is told when it is opened as whatever it is.
    return false
  }
}
