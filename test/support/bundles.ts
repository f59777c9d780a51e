// Programs of a user, and what becomes of them in a bundler: one file, which runs where there is nothing else.

import { cpSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import type { Consumer } from './consumer.ts'
import { snippetsOf } from './docs.ts'
import { inProject, node, type Ran, read } from './project.ts'

/** What `bundled.ts` prints. */
export const BUNDLED = { found: 'd777', intact: true, copied: true, copying: 1, searching: true, complaints: [] }

/** Programs with the AI SDK, and what they print: the backend of the messages guide, and a run that asks a model in an effect. */
export const AI_PROGRAMS: Readonly<Record<string, RegExp>> = {
  'chat.ts': /refunding 20 EUR of order 4711/,
  'ask.ts': /^\{"at":"\d{4}-[^"]+Z","role":"assistant","text":".*It is 31 degrees/,
}

const CHAT_GUIDE = 'docs/guide/messages.md'

export function writePrograms({ path }: Consumer): void {
  for (const name of ['bundled.ts', 'ask.ts']) cpSync(inProject('test', 'package', name), join(path, name))
  const chat = snippetsOf(CHAT_GUIDE, read(CHAT_GUIDE)).find(({ text }) => text.includes("from 'ai'"))
  if (!chat) throw new Error(`${CHAT_GUIDE} has no program with the AI SDK.`)
  writeFileSync(join(path, 'chat.ts'), chat.text)
}

export interface Bundler {
  readonly ending: '.mjs' | '.cjs'
  /** Writes one file. */
  bundle(program: string, file: string): Promise<unknown>
}

export const byRolldown: Bundler = {
  ending: '.mjs',
  bundle: async (program, file) => {
    const bundle = await rolldown({ input: program, platform: 'node', logLevel: 'silent' })
    await bundle.write({ file, format: 'esm', codeSplitting: false })
    await bundle.close()
  },
}

export interface RanAlone {
  readonly out: string
  /** What it left in its folder beside its own file. */
  readonly left: readonly string[]
}

/** Bundles a program of the project and runs the file in a folder where there is nothing else; throws if that fails. */
export async function runBundled(user: Consumer, program: string, bundler: Bundler, runtime = node): Promise<RanAlone> {
  const folder = mkdtempSync(join(dirname(user.path), 'alone-'))
  const file = program.replace(/\.ts$/, bundler.ending)
  await bundler.bundle(join(user.path, program), join(folder, file))
  const { code, out, err }: Ran = await runtime([file], { cwd: folder })
  if (code !== 0) throw new Error(`${program} failed as a bundle:\n${out}${err}`)
  return { out, left: readdirSync(folder).filter((name) => name !== file) }
}
