// The entry point `inkfast/postgres`.

export { type PostgresOptions, postgresBackend } from './backend.ts'
