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

  // What users build themselves. Anything else of these modules is how the kernel works, and one careless member type brings it all.
  const BUILT_BY_USERS: readonly string[] = ['FinalError']
  const insidersOf = (surface: string): readonly string[] =>
    [...surface.matchAll(/^kernel\/(?:[\w/-]+: (?:abstract )?class|scope: interface) (\w+)/gm)]
      .map(([, name]) => name as string)
      .filter((name) => !BUILT_BY_USERS.includes(name))

  it('the public API shows nothing of the inside of the kernel', () => {
    expect(insidersOf(read(SURFACE))).toEqual([])
  })

  it('the public API would be seen to show the inside of the kernel', () => {
    const careless = {
      'index.d.ts': "export type { Hits } from './kernel/recall.d.ts';\n",
      'kernel/recall.d.ts': "import type { Leg } from './legs.d.ts';\nexport interface Hits {\n  legs: Leg['name'][];\n}\n",
      'kernel/legs.d.ts':
        "import type { Scope } from './scope.d.ts';\nexport interface Leg {\n  name: string;\n  find(scope: Scope): void;\n}\n",
      'kernel/scope.d.ts': "import type { Lane } from './lane.d.ts';\nexport interface Scope {\n  lane: Lane;\n}\n",
      'kernel/lane.d.ts': 'export declare class Lane {\n}\n',
    } as Readonly<Record<string, string>>
    const surface = describeSurface({ inkfast: 'index.d.ts' }, (path) => careless[path] as string)
    expect(insidersOf(surface)).toEqual(['Lane', 'Scope'])
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
