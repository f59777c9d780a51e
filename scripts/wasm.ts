// Compiles the products of vectors to WebAssembly and writes them as a module: `npx node scripts/wasm.ts`.

import { readFileSync, writeFileSync } from 'node:fs'
import asc from 'assemblyscript/asc'

const SOURCE = new URL('./vector-dots.as', import.meta.url)
const TARGET = new URL('../src/vectors/threads/vector-dots.ts', import.meta.url)

/** The module as text, as it must be committed. */
export async function dotsModule(): Promise<string> {
  const { error, binary, stderr } = await asc.compileString(readFileSync(SOURCE, 'utf8'), {
    optimizeLevel: 3,
    shrinkLevel: 0,
    runtime: 'stub',
    enable: ['simd'],
    noAssert: true,
  })
  if (error || !binary) throw new Error(`the WebAssembly does not compile: ${error?.message} ${stderr}`)
  const lines = Buffer.from(binary)
    .toString('base64')
    .match(/.{1,120}/g) as readonly string[]
  const text = lines.map((line) => `  '${line}'`).join(' +\n')
  return `// Written by scripts/wasm.ts from scripts/vector-dots.as. Do not edit.\n\n/** WebAssembly in base64. */\nexport const VECTOR_DOTS =\n${text}\n`
}

if (import.meta.main) writeFileSync(TARGET, await dotsModule())
