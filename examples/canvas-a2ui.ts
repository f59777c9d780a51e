// A2UI: the surface that an agent describes is the document of a canvas. Each version becomes messages for a renderer, and what the person
// enters comes back as a patch of the data model.
//
//   npm run build && npx node examples/canvas-a2ui.ts

import { type CanvasEvent, open, type PatchOperation } from 'inkfast'

interface Surface {
  readonly surfaceId: string
  readonly root: string
  readonly components: Readonly<Record<string, object>>
  readonly data: Readonly<Record<string, unknown>>
}

/** The messages that draw a surface from nothing. */
const draw = ({ surfaceId, root, components, data }: Surface): readonly object[] => [
  { surfaceUpdate: { surfaceId, components: Object.entries(components).map(([id, component]) => ({ id, component })) } },
  { dataModelUpdate: { surfaceId, contents: data } },
  { beginRendering: { surfaceId, root } },
]

/** The messages for one patch: only the components and the parts of the data that it touches. */
function redraw(surface: Surface, patch: readonly PatchOperation[]): readonly object[] {
  const { surfaceId, components, data } = surface
  const touched = new Set(patch.map(({ path }) => path.split('/').slice(1, 3).join('/')))
  const changed = Object.entries(components).filter(([id]) => touched.has(`components/${id}`))
  const values = Object.entries(data).filter(([name]) => touched.has(`data/${name}`))
  return [
    ...(changed.length > 0 ? [{ surfaceUpdate: { surfaceId, components: changed.map(([id, component]) => ({ id, component })) } }] : []),
    ...values.map(([name, value]) => ({ dataModelUpdate: { surfaceId, path: `/${name}`, contents: value } })),
  ]
}

await using store = await open(':memory:')
const canvas = (await store.as('agent/booking').session('booking/17')).canvas('surface')

const surface: Surface = {
  surfaceId: 'booking',
  root: 'form',
  components: {
    form: { Column: { children: { explicitList: ['title', 'guests'] } } },
    title: { Text: { text: { literalString: 'Book a table' } } },
    guests: { TextField: { label: { literalString: 'Guests' }, text: { path: '/guests' } } },
  },
  data: { guests: 2 },
}
await canvas.replace(surface)

const renderer = async (): Promise<readonly object[]> => {
  const messages: object[] = []
  const take = async (update: CanvasEvent) => {
    const now = (await canvas.at({ version: update.version }))?.document as Surface
    messages.push(...('snapshot' in update ? draw(now) : redraw(now, update.patch)))
  }
  for await (const update of canvas.subscribe()) await take(update)
  return messages
}

const drawn = renderer()
// The person changes a field: the same document, patched by another actor.
const person = (await store.as('user/ada').session('booking/17')).canvas('surface')
await person.patch([{ op: 'replace', path: '/data/guests', value: 4 }])
// The agent answers with a new component.
await canvas.patch([
  { op: 'add', path: '/components/note', value: { Text: { text: { literalString: 'A table for four is free at 19:30.' } } } },
  { op: 'replace', path: '/components/form', value: { Column: { children: { explicitList: ['title', 'guests', 'note'] } } } },
])
await canvas.close('booked')

for (const message of await drawn) console.log(JSON.stringify(message))
