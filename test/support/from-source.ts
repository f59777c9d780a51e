// Preloaded with `node --import`: lets a program import 'inkfast' and its subpaths straight from src, as package.json's exports
// would give them from dist.

import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { exportedSources, moduleAt } from './programs.ts'
import { inProject } from './project.ts'

const sources = new Map([...exportedSources()].map(([specifier, source]) => [specifier, moduleAt(pathToFileURL(inProject(source)))]))

registerHooks({
  resolve(specifier, context, nextResolve) {
    return nextResolve(sources.get(specifier) ?? specifier, context)
  },
})
