// Where the programs are that tests start: bundled before the tests begin (bundled-programs.ts), or as they are.

import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { readJson, root } from './project.ts'

/** Names the folder of bundled programs in the environment. */
export const FOLDER = 'INKFAST_TEST_PROGRAMS'

/** The file to start for this source: its bundle, or itself where there is none. */
export function programAt(source: URL): string {
  const path = fileURLToPath(source)
  const folder = process.env[FOLDER]
  const bundled = folder && join(folder, relative(root, path).replace(/\.ts$/, '.js'))
  return bundled && existsSync(bundled) ? bundled : path
}

/** The same as a module to import. */
export const moduleAt = (source: URL): string => pathToFileURL(programAt(source)).href

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
}

/** The sources of what the package exports, by the specifier that a user imports. */
export function exportedSources(): ReadonlyMap<string, string> {
  const { name, exports } = readJson<Manifest>('package.json')
  const sources = Object.entries(exports).flatMap(([subpath, target]): readonly [string, string][] => {
    if (typeof target === 'string') return []
    return [[subpath.replace('.', name), target.types.replace(/^\.\/dist\/types\/(.+)\.d\.ts$/, 'src/$1.ts')]]
  })
  return new Map(sources)
}
