// Preloaded with `node --import`: lets a program import 'inkfast' and its subpaths straight from src, as package.json's exports
// would give them from dist.

import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { moduleAt } from './programs.ts'

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}

const root = new URL('../../', import.meta.url)
const { name, exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as Manifest

const sources = new Map<string, string>()
for (const [subpath, target] of Object.entries(exports)) {
  const built = typeof target === 'string' ? target : target.default
  const source = built.replace(/^\.\/dist\/(.+)\.js$/, './src/$1.ts')
  sources.set(subpath.replace('.', name), moduleAt(new URL(source, root)))
}

registerHooks({
  resolve(specifier, context, nextResolve) {
    return nextResolve(sources.get(specifier) ?? specifier, context)
  },
})
