// A2UI (version 0.9): the surface that an agent describes is the document of a canvas. Each version becomes messages for a renderer, and what the person
// enters comes back as a patch of the data model.
//
//   npm run build && npx node examples/canvas-a2ui.ts

import { type CanvasEvent, open, type PatchOperation } from 'inkfast'

interface Surface {
  readonly surfaceId: string
  readonly components: Readonly<Record<string, object>>
  readonly data: Readonly<Record<string, unknown>>
}

const version = 'v0.9'
const catalogId = 'https://a2ui.org/specification/v0_9/basic_catalog.json'

/** The messages that draw a surface from nothing. */
const draw = ({ surfaceId, components, data }: Surface): readonly object[] => [
  { version, createSurface: { surfaceId, catalogId } },
  { version, updateComponents: { surfaceId, components: Object.entries(components).map(([id, component]) => ({ id, ...component })) } },
  { version, updateDataModel: { surfaceId, path: '/', value: data } },
]

/** The messages for one patch: only the components and the parts of the data that it touches. */
function redraw(surface: Surface, patch: readonly PatchOperation[]): readonly object[] {
  const { surfaceId, components, data } = surface
  const touched = [...new Set(patch.map(({ path }) => path.split('/').slice(1, 3).join('/')))]
  if (touched.some((place) => !place.includes('/'))) return [{ version, deleteSurface: { surfaceId } }, ...draw(surface)]
  const names = (part: string) => touched.flatMap((place) => (place.startsWith(part) ? [place.slice(part.length)] : []))
  const changed = names('components/').filter((id) => Object.hasOwn(components, id))
  return [
    ...(changed.length > 0
      ? [{ version, updateComponents: { surfaceId, components: changed.map((id) => ({ id, ...components[id] })) } }]
      : []),
    // A message without a value removes it.
    ...names('data/').map((name) => ({ version, updateDataModel: { surfaceId, path: `/${name}`, value: data[name] } })),
  ]
}

await using store = await open(':memory:')
const canvas = (await store.as('agent/booking').session('booking/17')).canvas('surface')

const surface: Surface = {
  surfaceId: 'booking',
  components: {
    root: { component: 'Column', children: ['title', 'guests'] },
    title: { component: 'Text', text: 'Book a table' },
    guests: { component: 'TextField', label: 'Guests', value: { path: '/guests' } },
  },
  data: { guests: '2' },
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
await person.patch([{ op: 'replace', path: '/data/guests', value: '4' }])
// The agent answers with a new component.
await canvas.patch([
  { op: 'add', path: '/components/note', value: { component: 'Text', text: 'A table for four is free at 19:30.' } },
  { op: 'replace', path: '/components/root/children', value: ['title', 'guests', 'note'] },
])
await canvas.close('booked')

for (const message of await drawn) console.log(JSON.stringify(message))
