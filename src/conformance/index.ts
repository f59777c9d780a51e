export { cases } from './cases/index.ts'
export * from './case.ts'
