// The samples of the guides and of the page for agents, run as printed.

import { expect, test } from 'vitest'
import { runSnippets, snippetsOf } from './support/docs.ts'
import { filesUnder, read } from './support/project.ts'

// Something that is not here: a server, a mounted secret, or a backend of the reader.
const needsMore = /postgres:\/\/|\/run\/secrets\/|declare const/
const pages = ['AGENTS.md', ...filesUnder('docs/guide', (path) => path.endsWith('.md'))]
const samples = pages.flatMap((path) => snippetsOf(path, read(path)))

test('samples of the guides run in empty folders and end by themselves', async () => {
  const runnable = samples.filter(({ text }) => !needsMore.test(text))
  expect(runnable.length).toBeGreaterThan(samples.length * 0.8)
  expect(await runSnippets(runnable, 250_000)).toMatchObject({ code: 0, err: '' })
})

test('samples of the guides that fail or never end are reported', async () => {
  const failing = { place: 'page.md:3', text: "throw new Error('it broke')" }
  expect((await runSnippets([failing, { place: 'page.md:9', text: 'export {}' }], 60_000)).err).toMatch(/^page\.md:3 Error: it broke/)
  expect((await runSnippets([{ place: 'page.md:3', text: 'setInterval(() => {}, 1000)' }], 3000)).code).not.toBe(0)
})
