// Code on our pages, as programs: taken out, put together and given to the compiler.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { blocksOf } from './markdown.ts'
import { emptyFolder, fromSource, inProject, node, type Ran, tsc } from './project.ts'

export interface Snippet {
  /** `docs/guide/journal.md:14`, the line its first block begins at. */
  readonly place: string
  readonly text: string
}

/** A block that begins with an import is a program; one that does not goes on from the block before it. */
export function snippetsOf(path: string, page: string): readonly Snippet[] {
  const snippets: Snippet[] = []
  for (const { language, text, line } of blocksOf(page)) {
    if (language !== 'ts') continue
    const before = snippets.at(-1)
    if (before && !/^\s*(?:\/\/.*\n\s*)*import\b/.test(text)) snippets[snippets.length - 1] = { ...before, text: `${before.text}\n${text}` }
    else snippets.push({ place: `${path}:${line}`, text })
  }
  return snippets
}

/** The complaints of the compiler, each with the page it comes from. */
export async function compileSnippets(snippets: readonly Snippet[], compilerOptions: object = {}): Promise<readonly string[]> {
  const cache = inProject('node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(`${cache}/docs-`)
  try {
    snippets.forEach(({ text }, i) => {
      // Every snippet is a module, also the one that imports nothing.
      writeFileSync(`${folder}/snippet${i}.ts`, `${text}\nexport {}\n`)
    })
    writeFileSync(`${folder}/package.json`, JSON.stringify({ type: 'module' }))
    writeFileSync(
      `${folder}/tsconfig.json`,
      JSON.stringify({ ...config, compilerOptions: { ...config.compilerOptions, ...compilerOptions } }),
    )
    const { code, out, err } = await tsc(['-p', folder, '--pretty', 'false'])
    if (code === 0) return []
    const complaints = out.split('\n').filter((line) => line.includes('error TS'))
    return complaints.length > 0 ? complaints.map((line) => named(line, snippets)) : [`the compiler failed: ${out}${err}`]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Runs snippets in one process, one after the other, each in an empty folder. A failure is reported with its page. The process must end by
 * itself, which shows that no snippet leaves anything open.
 */
export async function runSnippets(snippets: readonly Snippet[], timeoutMs: number): Promise<Ran> {
  using folder = emptyFolder()
  symlinkSync(inProject('node_modules'), `${folder.path}/node_modules`)
  snippets.forEach(({ text }, i) => {
    mkdirSync(`${folder.path}/${i}`)
    writeFileSync(`${folder.path}/${i}/snippet.ts`, text)
  })
  writeFileSync(`${folder.path}/package.json`, JSON.stringify({ type: 'module' }))
  writeFileSync(`${folder.path}/all.ts`, runner(snippets))
  return await node([...fromSource, 'all.ts'], { cwd: folder.path, timeoutMs })
}

const runner = (snippets: readonly Snippet[]): string => `
const folder = import.meta.dirname
for (const [i, place] of ${JSON.stringify(snippets.map(({ place }) => place))}.entries()) {
  process.chdir(\`\${folder}/\${i}\`)
  try {
    await import(\`\${folder}/\${i}/snippet.ts\`)
  } catch (error) {
    console.error(place, error)
  }
}
`

const named = (line: string, snippets: readonly Snippet[]): string =>
  line.replace(/^.*?snippet(\d+)\.ts\((\d+),\d+\)/, (_, i: string, at: string) => `${snippets[Number(i)]?.place} (line ${at} of it)`)

const config = {
  extends: '../../../tsconfig.base.json',
  compilerOptions: {
    types: ['node'],
    typeRoots: ['../../@types'],
    rootDir: '../../..',
    composite: false,
    incremental: false,
    noEmit: true,
    emitDeclarationOnly: false,
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: false,
    paths: {
      inkfast: ['../../../src/index.ts'],
      'inkfast/memory': ['../../../src/backends/memory/backend.ts'],
      'inkfast/sqlite': ['../../../src/backends/sqlite/index.ts'],
      'inkfast/postgres': ['../../../src/backends/postgres/index.ts'],
      'inkfast/conformance': ['../../../src/conformance/index.ts'],
      'inkfast/langgraph': ['../../../src/adapters/langgraph/index.ts'],
    },
  },
  include: ['./*.ts'],
}
