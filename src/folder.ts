// The files of a store with one file per tenant, for tools that inspect the files directly.

export { changedSchema } from './backends/sqlite/schema.ts'
export { isFolderStore, STORE_FILE, tenantFile, tenantOf, tenantsIn } from './backends/sqlite/tenant-files.ts'
