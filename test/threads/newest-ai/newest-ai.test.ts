// The newest AI SDK in place of the one that the project is built with: its reader makes of a stream what we make of it, and takes what we store.

import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { open } from '../../../src/index.ts'
import { afterThisFile } from '../../support/cleanups.ts'
import { emptyFolder, run } from '../../support/project.ts'
import { LONG } from '../../support/rounds.ts'
import { foldsLike } from '../compare-fold.ts'
import { recordedStreams } from '../recorded-streams.ts'

type Sdk = typeof import('ai')

interface Manifest {
  readonly version: string
  readonly exports: { readonly '.': { readonly import: string } }
}

let sdk: Sdk | undefined
const newest = (): Sdk => sdk as Sdk

async function install(): Promise<void> {
  const folder = emptyFolder()
  afterThisFile(() => folder[Symbol.dispose]())
  copyFileSync(new URL('./package.json', import.meta.url), join(folder.path, 'package.json'))
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
  const { code, out, err } = await run('npm', ['install', ...flags], { cwd: folder.path })
  expect(code, out + err).toBe(0)
  const place = join(folder.path, 'node_modules', 'ai')
  const { version, exports } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest
  console.log(`compared with ai ${version}`)
  sdk = (await import(join(place, exports['.'].import))) as Sdk
}

if (LONG)
  describe('with the newest AI SDK', () => {
    beforeAll(install)

    foldsLike(() => newest().readUIMessageStream)

    test('what is stored is valid for it, and goes to a model', async () => {
      await using store = await open(':memory:')
      const { thread } = await store.session('s')
      for (const [i, chunks] of Object.values(recordedStreams).entries()) {
        await using stream = thread.stream(`m${i}`)
        for (const chunk of chunks) await stream.write(chunk)
      }
      const messages = await thread.messages()
      const valid = await newest().safeValidateUIMessages({ messages })
      expect(valid.success ? undefined : valid.error).toBeUndefined()
      expect((await newest().convertToModelMessages(messages)).length).toBeGreaterThan(messages.length)
    })
  })
else test('the newest AI SDK', ({ skip }) => skip('only a long run installs it'))
