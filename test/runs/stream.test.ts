// Text that an effect streams: masked like any other data, recorded in entries of bounded size, on every database.

import { describe, expect, test } from 'vitest'
import type { Store } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

async function streamedText(store: Store): Promise<string> {
  let text = ''
  for await (const event of store.events({ types: ['effect.streamed'] })) text += (event.data as { text: string }).text
  return text
}

const words = (text: string) => text.match(/.{1,6}/gs) ?? []

describe.each(engines)('on $name', (engine) => {
  test('a private key that an effect streams word by word is not in the journal', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('r')
    const line = (n: number) => `${String(n).padStart(4, '0')}MIIEpAIBAAKCAQEAzXqJt0V8ZcW3rYb5uQpLh2mD9sKfGvTn1xEoRaBiUe`
    const lines = Array.from({ length: 26 }, (_, n) => line(n))
    const key = `-----BEGIN RSA PRIVATE ${'KEY'}-----\n${lines.join('\n')}\n-----END RSA PRIVATE ${'KEY'}-----`
    // The key lies over the place where the first entry ends.
    const prose = 'The model writes a lot of text around the key. '.repeat(72)
    await run.effect('call model', ({ stream }) => {
      for (const piece of words(`${prose}\n${key}\n${prose}"password": "x7" and ${prose}`)) stream(piece)
    })
    const text = await streamedText(store)
    expect(text).toMatch(
      /^The model .* key\. \n\[redacted:private-key:[0-9a-f]{8}\]\nThe model .*"password": "\[redacted:key:[0-9a-f]{8}\]" and The/,
    )
    for (const one of lines) expect(text).not.toContain(one)
    await expectSound(store)
  })

  test('an effect may stream 600 KB without a space, in pieces or at once', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('r')
    const text = 'Zm9vYmFy'.repeat(75_000)
    await run.effect('in pieces', ({ stream }) => {
      for (let at = 0; at < text.length; at += 100) stream(text.slice(at, at + 100))
    })
    expect((await streamedText(store)) === text).toBe(true)
    await run.effect('at once', ({ stream }) => stream(text))
    expect((await streamedText(store)) === text + text).toBe(true)
  })

  test('an effect may stream into a store with small payloads', async () => {
    const store = await engine.open({ payloadBytes: 1024 })
    const run = await (await store.session('s')).run('r')
    const text = 'words and 😀 and "quotes" '.repeat(400)
    await run.effect('call model', ({ stream }) => {
      for (const piece of words(text)) stream(piece)
    })
    expect(await streamedText(store)).toBe(text)
  })
})
