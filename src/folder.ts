// What lies in a folder that keeps a file for each tenant, for those who look at the files themselves.

export { changedSchema } from './backends/sqlite/schema.ts'
export { isFolderStore, STORE_FILE, tenantFile, tenantOf, tenantsIn } from './backends/sqlite/tenant-files.ts'
