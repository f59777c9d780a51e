// Someone asks to be forgotten: the payload goes, the fact that something stood there stays, and the chain still verifies.
//
// Run it after `npm run build` with: node examples/erase-and-verify.ts [file]

import { open } from 'inkfast'

await using store = await open(process.argv[2] ?? ':memory:')
const session = await store.session('intake/12')
const kept = await session.append('note.taken', { text: 'prefers metric units' })
const personal = await session.append('note.taken', { text: 'lives at 12 Harbour Street' })

const { erased } = await store.erase({ seq: personal.seq, reason: 'subject request 12' })
console.log(`erased ${erased} payload`)

for await (const event of store.events({ session: session.id, types: ['note.*'] })) {
  console.log(`${event.seq} ${event.type} ${event.erased ? 'erased' : JSON.stringify(event.data)}`)
}

// Receipts live elsewhere, with whoever was given them: they show that nothing was cut off or written anew.
const report = await store.verify({ receipts: [kept, personal] })
console.log(`intact: ${report.intact}, erased with a reason: ${report.states.erased}, receipts used: ${report.anchors.receipts}`)
const { equal } = await store.rebuild({ check: true })
console.log(`rows are the fold of the journal: ${equal}`)
if (!report.intact || !equal) process.exitCode = 1
