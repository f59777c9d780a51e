// The public API is what its committed description says: a change of it is seen in review, never slipped in.

import { describe, expect, it } from 'vitest'
import { describeSurface, readSurface, SURFACE } from '../scripts/surface.ts'
import { read } from './support/project.ts'

describe('the public API', () => {
  it('the public API equals its description; after an intended change run npm run surface', () => {
    expect(readSurface()).toBe(read(SURFACE))
  })

  it('the public API does not speak of the database library', () => {
    expect(read(SURFACE)).not.toMatch(/DatabaseSync|StatementSync|SQLInputValue/)
  })

  const files: Readonly<Record<string, string>> = {
    'index.d.ts': "export { open } from './open.d.ts';\nexport type { A } from './a.d.ts';\n",
    'open.d.ts': "import type { A } from './a.d.ts';\n/** Opens. */\nexport declare function open(a: A): Promise<void>;\n",
    'a.d.ts': "import type { B } from './b.d.ts';\nexport interface A {\n  readonly b: B;\n}\n",
    'b.d.ts': 'export type B = 1 | 2;\n',
  }
  const described = (change: Readonly<Record<string, string>> = {}) =>
    describeSurface({ inkfast: 'index.d.ts' }, (path) => ({ ...files, ...change })[path] as string)

  it('the public API is described with everything that can be reached from it', () => {
    expect(described()).toBe(
      'inkfast\n  A\n  open\n\na: interface A { readonly b: B; }\nb: type B = 1 | 2;\nopen: function open(a: A): Promise<void>;\n',
    )
  })

  it.each([
    ['an argument', { 'open.d.ts': "import type { A } from './a.d.ts';\nexport declare function open(a: A, b: A): Promise<void>;\n" }],
    ['a type behind a type', { 'b.d.ts': 'export type B = 1 | 2 | 3;\n' }],
    ['an export taken away', { 'index.d.ts': "export { open } from './open.d.ts';\n" }],
  ])('the public API is described differently after a change of %s', (_, change) => {
    expect(described(change as Readonly<Record<string, string>>)).not.toBe(described())
  })

  it('the public API is described through re-exports of whole files', () => {
    const text = described({ 'index.d.ts': "export * from './b.d.ts';\nexport * as parts from './a.d.ts';\n" })
    expect(text).toBe('inkfast\n  B\n  parts.A\n\na: interface A { readonly b: B; }\nb: type B = 1 | 2;\n')
  })

  it('the public API is described alike when only a comment changed', () => {
    expect(described({ 'b.d.ts': '/** One or two. */\nexport type B = 1 | 2;\n' })).toBe(described())
  })
})
