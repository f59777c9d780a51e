// The entry point `inkfast/sqlite`.

export { type SqliteBackend, type SqliteOptions, sqliteBackend } from './backend.ts'
