// A process that imports a module and says what that took: node import-child.ts <url>.

export interface Imported {
  readonly ms: number
  /** Processor time, which a busy machine lengthens less. */
  readonly processorMs: number
  readonly mib: number
}

const before = process.memoryUsage.rss()
const processor = process.cpuUsage()
const start = performance.now()
await import(process.argv[2] as string)
const ms = performance.now() - start
const { user, system } = process.cpuUsage(processor)
const mib = (process.memoryUsage.rss() - before) / 2 ** 20
console.log(JSON.stringify({ ms, processorMs: (user + system) / 1000, mib } satisfies Imported))
