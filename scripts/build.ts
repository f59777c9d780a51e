// Writes dist: the product in a few files with their source maps, and one tree of types. Modules that several entries need are in shared
// chunks, so a class is the same one whichever entry it came through. SQL and the code of threads are texts inside, because a
// bundler that takes the package into a program of its own leaves files behind that lie beside.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Plugin, type RolldownOptions, rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const { exports, dependencies, peerDependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
  exports: Record<string, string | { types: string; default: string }>
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
}

/** Built file → source, both without their ending and from `dist` and `src`. */
const exported = Object.fromEntries(
  Object.values(exports).flatMap((target) =>
    typeof target === 'string'
      ? []
      : [[/^\.\/dist\/(.+)\.js$/.exec(target.default)?.[1], /^\.\/dist\/types\/(.+)\.d\.ts$/.exec(target.types)?.[1]]],
  ),
) as Record<string, string>
// The command, and the programs that its demo starts.
const programs = { cli: 'cli/main', 'demo/agent': 'cli/demo/agent', 'demo/order': 'cli/demo/order' }

/** The oldest Node that runs the package. */
const TARGET = 'node22.22'

const shared: RolldownOptions = {
  platform: 'node',
  external: [/^node:/, ...Object.keys({ ...dependencies, ...peerDependencies }).map((name) => new RegExp(`^${name}(/|$)`))],
  transform: { target: TARGET },
  // An import that nothing answers would be found out by a user.
  onLog: (_, log) => {
    throw new Error(log.message)
  },
}

/** `new URL('./x-worker.ts', import.meta.url)` becomes the code of that thread. */
const threads: Plugin = {
  name: 'threads',
  async transform(code, id) {
    const found = /new URL\('(\.\/[\w-]+-worker\.ts)', import\.meta\.url\)/.exec(code)
    if (!found) return undefined
    const bundle = await rolldown({ ...shared, input: fileURLToPath(new URL(found[1] as string, pathToFileURL(id))) })
    const { output } = await bundle.generate({ format: 'cjs', codeSplitting: false })
    await bundle.close()
    return { code: code.replace(found[0], () => JSON.stringify(output[0].code)), map: null }
  },
}

/** Modules that read the migrations become what they have read. */
const migrations: Plugin = {
  name: 'migrations',
  async load(id) {
    if (!id.endsWith('/migration-files.ts')) return undefined
    const read = (await import(pathToFileURL(id).href)) as Readonly<Record<string, unknown>>
    return Object.entries(read)
      .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`)
      .join('\n')
  },
}

/** Declarations of everything that an entry leads to; also the type check of the product. */
function writeTypes(): void {
  mkdirSync(`${root}node_modules/.cache`, { recursive: true })
  const folder = mkdtempSync(`${root}node_modules/.cache/types-`)
  try {
    const config = {
      extends: '../../../tsconfig.base.json',
      compilerOptions: {
        types: ['node'],
        typeRoots: ['../../@types'],
        rootDir: '../../../src',
        outDir: '../../../dist/types',
        composite: false,
        incremental: false,
        declaration: true,
        emitDeclarationOnly: true,
      },
      files: Object.values({ ...exported }).map((source) => `../../../src/${source}.ts`),
    }
    writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(config))
    const { status } = spawnSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', folder], { stdio: 'inherit' })
    if (status !== 0) process.exit(status ?? 1)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function writeCode(): Promise<void> {
  const sources = Object.entries({ ...exported, ...programs })
  const bundle = await rolldown({
    ...shared,
    input: Object.fromEntries(sources.map(([built, source]) => [built, `${root}src/${source}.ts`])),
    plugins: [threads, migrations],
  })
  await bundle.write({
    dir: `${root}dist`,
    format: 'esm',
    keepNames: true,
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  })
  await bundle.close()
}

rmSync(`${root}dist`, { recursive: true, force: true })
writeTypes()
await writeCode()
