// A reader in another process sees streamed text while it comes, and has it all but its last word after the writer was killed.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { Store } from '../../src/index.ts'
import { LANGUAGES, type Language } from '../redact/languages.ts'
import { engines, expectSound, later, openIn, tempDatabase, tempFile } from '../support/engines.ts'
import { programAt } from '../support/programs.ts'

const PROCESS = programAt(new URL('./live-text-process.ts', import.meta.url))

/** The text without the word that may be the beginning of a secret. */
const withoutLastWord = (text: string): string => text.replace(/"?[\w\-.:+/=$%~!|@]*$/, '')

async function effectText(store: Store, name: string): Promise<string> {
  let text = ''
  const { id } = await store.session(name)
  for await (const { data } of store.events({ session: id, types: ['effect.streamed'] })) text += (data as { text: string }).text
  return text
}

async function messageText(store: Store, name: string): Promise<string> {
  const { thread } = await store.session(name)
  const part = (await thread.get('answer'))?.parts[0] as { readonly text?: string } | undefined
  return part?.text ?? ''
}

/** Resolves once the reader has everything but the last word of the text. */
async function seen(store: Store, { name, text }: Pick<Language, 'name' | 'text'>, read: typeof effectText): Promise<void> {
  const wanted = withoutLastWord(text)
  if ((await read(store, name)).startsWith(wanted)) return
  for await (const _ of store.events({ live: true })) if ((await read(store, name)).startsWith(wanted)) return
}

/** Streams both halves of a text, and returns the part of each that a reader missed while the effect went on. */
async function missedOf(store: Store, { name, text }: Language): Promise<readonly string[]> {
  const run = await (await store.session(name)).run('answer')
  const half = text.length >> 1
  const missed: string[] = []
  await run.effect('call model', async ({ stream }) => {
    for (const [from, to] of [
      [0, half],
      [half, text.length],
    ] as const) {
      stream(text.slice(from, to))
      await seen(store, { name, text: text.slice(0, to) }, effectText)
      missed.push(text.slice((await effectText(store, name)).length, to))
    }
  })
  expect(await effectText(store, name)).toBe(text)
  return missed
}

describe.each(engines)('on $name', (engine) => {
  test('every answer is read up to its last word while the effect goes on', async () => {
    const store = await engine.open()
    const missed = await Promise.all(LANGUAGES.map((language) => missedOf(store, language)))
    for (const word of missed.flat()) expect(word).toBe(word.slice(withoutLastWord(word).length))
  })
})

async function start(url: string, how = ''): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PROCESS, url, how], { stdio: ['ignore', 'pipe', 'inherit'] })
  later(() => child.kill('SIGKILL'))
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  return child
}

describe.each([
  ['sqlite', async () => tempFile()],
  ['postgres', tempDatabase],
] as const)('a process that streams is killed on %s', (_, place) => {
  test('and a reader has every answer but its last word', async () => {
    const url = await place()
    const child = await start(url)
    const store = await openIn(url)
    for (const language of LANGUAGES) for (const read of [effectText, messageText]) await seen(store, language, read)
    const dead = once(child, 'close')
    child.kill('SIGKILL')
    await dead
    const after = await openIn(url)
    for (const { name, text } of LANGUAGES) {
      for (const read of [effectText, messageText]) expect((await read(after, name)).slice(0, text.length)).toBe(withoutLastWord(text))
      expect((await (await after.session(name)).thread.record('answer'))?.interrupted).toBe(true)
    }
    await expectSound(after)
  })

  test('and a reader misses answers that were not recorded yet', async () => {
    const url = await place()
    const child = await start(url, 'hurried')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    const store = await openIn(url)
    const missed: string[] = []
    for (const { name, text } of LANGUAGES) if ((await effectText(store, name)).length < withoutLastWord(text).length) missed.push(name)
    expect(missed).not.toEqual([])
  })
})
