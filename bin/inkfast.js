#!/usr/bin/env node
// Checks the version of Node before anything modern is parsed, and says so in one line.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  console.error(`inkfast needs Node 24.15 or newer; this is ${process.version}. Install a newer Node and try again.`)
  process.exit(70)
}
await import('../dist/cli/main.js')
