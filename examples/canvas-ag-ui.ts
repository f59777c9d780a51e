// An agent edits a canvas, and a page follows it as AG-UI events: one STATE_SNAPSHOT, then a STATE_DELTA for every patch.
//
//   npm run build && npx node examples/canvas-ag-ui.ts

import { agUiEvent, applyPatch, open, type PatchOperation } from 'inkfast'

await using store = await open(':memory:')
const canvas = (await store.session('release/2.14')).canvas('plan')
await canvas.replace({ title: 'Release 2.14', steps: [] })

/** The page knows AG-UI only. A real one would read these events from a stream of server-sent events. */
async function page(): Promise<unknown> {
  let state: unknown
  for await (const update of canvas.subscribe()) {
    const event = agUiEvent(update)
    console.log(JSON.stringify(event))
    state = event.type === 'STATE_SNAPSHOT' ? event.snapshot : applyPatch(state, event.delta)
  }
  return state
}

const shown = page()
const step = (value: string): readonly PatchOperation[] => [{ op: 'add', path: '/steps/-', value }]
await canvas.patch(step('write notes'))
await canvas.patch(step('ship'))
await canvas.close('released')

console.log('the page shows', JSON.stringify(await shown))
const kept = (await canvas.get())?.document
if (JSON.stringify(await shown) !== JSON.stringify(kept)) throw new Error('the page and the canvas differ')
