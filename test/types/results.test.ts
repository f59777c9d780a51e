// results.ts and calls.ts compile for users who have not set `exactOptionalPropertyTypes`, too. With it, everything that is checked compiles it.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emptyFolder, inProject, readJson, tsc } from '../support/project.ts'

const FILES = ['test/types/results.ts', 'test/types/calls.ts']

test('results and calls have their types without exactOptionalPropertyTypes', async () => {
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
    files: FILES.map((file) => inProject(file)),
  }
  writeFileSync(join(folder.path, 'tsconfig.json'), JSON.stringify(config))
  const { out } = await tsc(['-p', folder.path])
  // The sources themselves are written for the exact setting. Lines that expect an error show that the compiler looks.
  expect(out.split('\n').filter((line) => FILES.some((file) => line.includes(file)))).toEqual([])
})
