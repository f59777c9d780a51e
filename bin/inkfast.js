#!/usr/bin/env node
// Checks the version of Node before anything modern is parsed, and says so in one line.
const [major, minor, patch] = process.versions.node.split('.').map(Number)
const usable = major === 22 ? minor > 22 || (minor === 22 && patch >= 3) : major > 24 || (major === 24 && minor >= 15)
if (!usable) {
  console.error(
    `inkfast needs Node 22.22.3 or a newer 22, or Node 24.15 or newer; this is ${process.version}. Install a newer Node and try again.`,
  )
  process.exit(70)
}
if (major === 22) {
  // Node 22 warns of its SQLite, which is the one of later versions, on the stderr of every command.
  const { emitWarning } = process
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).startsWith('SQLite is an experimental feature')) emitWarning.call(process, warning, ...rest)
  }
}
const { enableCompileCache } = await import('node:module')
// Compiling would be half of a quick command. Other runtimes have caches of their own.
enableCompileCache?.()
await import('../dist/cli.js')
