// Where the package is: the folder above the sources, or above what was built from them.

import { existsSync } from 'node:fs'

const isRoot = (folder: URL): boolean => existsSync(new URL('package.json', folder))

function rootAbove(folder: URL): URL {
  const above = new URL('../', folder)
  return isRoot(folder) || above.href === folder.href ? folder : rootAbove(above)
}

const packageRoot = rootAbove(new URL('./', import.meta.url))

/** A file of the package. */
export const inPackage = (path: string): URL => new URL(path, packageRoot)
