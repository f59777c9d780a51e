// results.ts compiles for users who have not set `exactOptionalPropertyTypes`, too. With it, everything that is checked compiles it.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emptyFolder, inProject, readJson, tsc } from '../support/project.ts'

test('results of effects have their types without exactOptionalPropertyTypes', async () => {
  using folder = emptyFolder()
  const { compilerOptions } = readJson<{ compilerOptions: object }>('tsconfig.base.json')
  const config = {
    compilerOptions: {
      ...compilerOptions,
      exactOptionalPropertyTypes: false,
      types: ['node'],
      typeRoots: [inProject('node_modules/@types')],
      rootDir: '/',
      composite: false,
      noEmit: true,
      rewriteRelativeImportExtensions: false,
      allowImportingTsExtensions: true,
    },
    files: [inProject('test/types/results.ts')],
  }
  writeFileSync(join(folder.path, 'tsconfig.json'), JSON.stringify(config))
  const { out } = await tsc(['-p', folder.path])
  // The sources themselves are written for the exact setting. Lines that expect an error show that the compiler looks.
  expect(out.split('\n').filter((line) => line.includes('test/types/results.ts'))).toEqual([])
})
