// Where a store's schema stands, for those who decide before they migrate.

export { type MigrationState, migrateFile, readSchema, type SchemaState } from './backends/sqlite/schema.ts'
