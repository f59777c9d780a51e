// Canvases at the terminal.

import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { copyForEach, inkHere as ink, inkHereJson as inkJson, lines } from './support.ts'

const copy = copyForEach(async (url) => {
  await using store = await open({ url })
  const canvas = (await store.as('agent/planner').session('support/4711')).canvas('plan')
  await canvas.replace({ title: 'lamp\u001b[31m', steps: [] })
  await canvas.patch([{ op: 'add', path: '/steps/-', value: 'ship' }])
  await (await store.session('other')).canvas('notes').replace({})
})

const place = () => [copy.path, 'support/4711', 'plan']

test('inkfast canvas lists canvases, of all sessions or of one', async () => {
  const { code, out, err } = await ink(['canvas', copy.path])
  expect([code, err]).toEqual([0, ''])
  expect(lines(out)[0]).toMatch(/^session +name +version +bytes +state/)
  expect(out).toMatch(/support\/4711 +plan +2 .*agent\/planner/)
  expect(await inkJson(['canvas', copy.path, '--session', 'other'])).toMatchObject({ items: [{ name: 'notes', version: 1 }] })
  expect(await inkJson(['canvas', 'list', copy.path, '--last', '1'])).toMatchObject({ items: [{ name: 'notes' }] })
})

test('inkfast canvas shows the document, a version, the history and a difference, and harmful characters are escaped', async () => {
  const { out } = await ink(['canvas', 'show', ...place()])
  expect(out).toContain('"ship"')
  expect(out).not.toContain('\u001b[31m')
  expect(await inkJson(['canvas', 'at', ...place(), '1'])).toMatchObject({ version: 1, document: { steps: [] } })
  expect(await inkJson(['canvas', 'history', ...place()])).toMatchObject({
    items: [{ version: 2 }, { version: 1, actor: 'agent/planner' }],
  })
  expect(lines((await ink(['canvas', 'history', ...place(), '--before', '2'])).out)).toHaveLength(2)
  expect((await ink(['canvas', 'diff', ...place(), '1', '2'])).out.trim()).toBe('{"op":"add","path":"/steps/0","value":"ship"}')
  expect((await ink(['canvas', 'diff', ...place(), '2', '2'])).err).toContain('are equal')
  for (const words of [
    ['show', copy.path, 'support/4711', 'nobody'],
    ['at', ...place(), '9'],
    ['show', copy.path, 'nobody', 'plan'],
  ])
    expect((await ink(['canvas', ...words])).code).toBe(3)
  expect((await ink(['canvas', 'at', ...place(), '9'])).err).toContain("The canvas 'plan' has no version 9; the newest is 2.")
  expect((await ink(['canvas', 'at', ...place(), 'x'])).code).toBe(2)
})

test('inkfast canvas patch applies a patch, and refuses a wrong version and a wrong patch', async () => {
  const patch = '[{"op":"add","path":"/done","value":true}]'
  expect(await inkJson(['canvas', 'patch', ...place(), patch, '--expect', '2', '--actor', 'user/grace'])).toEqual({ version: 3 })
  expect((await ink(['canvas', 'patch', ...place(), patch, '--expect', '2'])).code).toBe(5)
  expect((await ink(['canvas', 'patch', ...place(), '[{"op":"add"}]'])).code).toBe(2)
  expect((await ink(['canvas', 'patch', ...place(), 'no json'])).code).toBe(2)
  expect((await ink(['canvas', 'patch', ...place(), '[{"op":"add","path":"/steps/-","value":"bill"}]'])).out).toContain(
    'plan is at version 4',
  )
})

test('inkfast canvas reads the history and the versions before the damage of a canvas whose newest patch was erased', async () => {
  {
    await using store = await open({ url: copy.path })
    const canvas = (await store.session('support/4711')).canvas('plan')
    for await (const { seq } of canvas.history({ after: 1 })) await store.erase({ seq, reason: 'asked for' })
  }
  expect((await ink(['canvas', 'show', ...place()])).err).toContain('cannot be read from version 2 on')
  expect(await inkJson(['canvas', 'at', ...place(), '1'])).toMatchObject({ version: 1 })
  expect((await ink(['canvas', 'history', ...place()])).out).toContain('(erased)')
  expect((await ink(['canvas', 'at', ...place(), '9'])).err).toContain('the newest is 2')
})
