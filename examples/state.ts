// Key-value state that two writers share, and the snapshot of an execution.
//
// Run it after `npm run build` with: node examples/state.ts [file]

import { InkError, open } from 'inkfast'

await using store = await open(process.argv[2] ?? 'state.db')

// Two writers count with compare-and-set: whoever lost the race reads again.
async function count(): Promise<void> {
  for (;;) {
    const entry = await store.state.get('pages')
    const pages = ((entry?.value as number | undefined) ?? 0) + 1
    try {
      return void (await store.state.set('pages', pages, { expect: entry?.revision ?? 0 }))
    } catch (error) {
      if (!(error instanceof InkError && error.code === 'STATE_CHANGED')) throw error
    }
  }
}
await Promise.all(Array.from({ length: 10 }, count))
console.log(`${(await store.state.get('pages'))?.value} pages counted`)

// An execution folds its events, and starts from its snapshot next time.
const session = await store.session('exec-1')
for (const step of ['fetch', 'parse']) await session.append('step.completed', { step })
await store.snapshots.save('exec-1', { state: 'running', step: 'parse', outputs: { done: ['fetch', 'parse'] } })
await session.append('step.completed', { step: 'store' })
const resumed = await store.snapshots.resumeFrom('exec-1')
console.log(`resumed at ${resumed?.snapshot.step}, with ${resumed?.events.length} event after it`)
