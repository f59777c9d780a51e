// Features and the inner walls of the kernel, checked. Every checker is also shown something wrong, which it must report.

import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { open, type Store } from '../src/index.ts'
import { type AnyFeature, FeatureSet } from '../src/kernel/feature.ts'
import { features } from '../src/kernel/features.ts'
import type { Happened } from '../src/kernel/writing/decider.ts'
import { filesUnder, isSource, read } from './support/project.ts'
import {
  basicsOf,
  checkBehaviourTests,
  checkCycles,
  checkFeatures,
  checkHooks,
  checkReasons,
  checkRecipe,
  checkSessionTables,
  checkWalls,
  runtimeImports,
  wallsOf,
} from './support/tidy/kernel.ts'

const ROOT = {
  top: ['src/kernel/engine.ts', 'src/kernel/store.ts', 'src/kernel/close-store.ts'],
  contract: ['src/kernel/feature.ts', 'src/kernel/features.ts', 'src/kernel/options.ts', 'src/kernel/fenced.ts'],
}

/** Tests of features that have no folder of their own in `test`. */
const TESTED_ELSEWHERE: Readonly<Record<string, string>> = {
  approvals: 'test/work/approvals.test.ts',
  attachments: 'test/conversations/attachments.test.ts',
  audit: 'test/audit.test.ts',
  cron: 'test/work/cron.test.ts',
  graph: 'test/conversations/graph.test.ts',
  inputs: 'test/work/inputs.test.ts',
  leases: 'test/runs/session-lease.test.ts',
  processes: 'test/work/processes.test.ts',
  sessions: 'test/sessions.test.ts',
  snapshots: 'test/state/snapshots.test.ts',
  triggers: 'test/work/triggers.test.ts',
  turns: 'test/conversations/turns.test.ts',
  usage: 'test/usage.test.ts',
  vectors: 'test/collections/collections.test.ts',
}

const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV'

const sources = filesUnder('src/kernel', isSource)
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => ({ path, text: read(path) }))
const paths = sources.map(({ path }) => path)
const page = read('ARCHITECTURE.md')
const walls = wallsOf(page)
const basics = basicsOf(page)

const without = (folder: string): readonly AnyFeature[] => features.filter(({ name }) => name !== folder)

describe('the kernel', () => {
  it('the kernel has no import cycle at run time', () => {
    expect(checkCycles(sources)).toEqual([])
    const a = { path: 'src/kernel/a.ts', text: "import { b } from './b.ts'" }
    const b = { path: 'src/kernel/b.ts', text: "import {\n  type A,\n  a,\n} from './a.ts'" }
    expect(checkCycles([a, b])).toEqual(['import cycle: src/kernel/a.ts ↔ src/kernel/b.ts'])
    expect(checkCycles([a, { ...b, text: "import { type A, type B } from './a.ts'\nimport type { C } from './a.ts'" }])).toEqual([])
  })

  it('the kernel has folders that import only the folders below them, as ARCHITECTURE.md says', () => {
    expect(checkWalls(sources, walls, basics, ROOT)).toEqual([])
    const wrong = (path: string, target: string, names = '{ x }') =>
      checkWalls([{ path: `src/kernel/${path}`, text: `import ${names} from '${target}'` }], walls, basics, ROOT)
    expect(wrong('features/work/a.ts', '../runs/b.ts')).toEqual([expect.stringContaining('is in work and imports')])
    expect(wrong('features/work/a.ts', '../runs/b.ts', '{ type X }')).toHaveLength(1)
    expect(wrong('writing/lane.ts', '../features/runs/b.ts')).toEqual([expect.stringContaining('is in writing and imports')])
    expect(wrong('features/cron/a.ts', '../../engine.ts', '{ type X }')).toEqual([expect.stringContaining('at the top of the kernel')])
    expect(wrong('features/cron/a.ts', '../../features.ts')).toEqual([expect.stringContaining('more than types')])
    expect(wrong('features/cron/a.ts', '../../features.ts', '{ type X }')).toEqual([])
    expect(wrong('features/attic/a.ts', '../../naming/names.ts')).toEqual([expect.stringContaining('does not list')])
    expect(wrong('attic/a.ts', '../naming/names.ts')).toEqual([expect.stringContaining('does not list')])
    expect(wrong('a.ts', './naming/names.ts')).toEqual([expect.stringContaining('the root of the kernel')])
    expect(wrong('features/runs/a.ts', '../work/b.ts')).toEqual([])
    expect(wrong('features/runs/program/a.ts', '../tape/b.ts')).toEqual([])
  })

  it('the kernel is read with type-only imports left out', () => {
    const text =
      "import { type A, b } from './b.ts'\nexport { c } from './c.ts'\nimport type { D } from './d.ts'\nimport { type E } from './e.ts'"
    expect(runtimeImports({ path: 'src/kernel/a.ts', text })).toEqual(['src/kernel/b.ts', 'src/kernel/c.ts'])
  })
})

describe('a feature', () => {
  it('a feature has its folder, its feature.ts and public.ts, all its deciders, and its line in features.ts and index.ts', () => {
    const index = read('src/index.ts')
    expect(checkFeatures(features, paths, index)).toEqual([])
    expect(checkFeatures(without('sessions'), paths, index)).toEqual(['sessions has deciders and is not in features.ts'])
    const unfinished: AnyFeature = { name: 'unfinished', onForked: 'never', refs: 'none' }
    expect(checkFeatures([...features, unfinished], paths, index)).toHaveLength(3)
    expect(checkFeatures(features, [...paths, 'src/kernel/cron/late-decider.ts'], index)).toHaveLength(1)
  })

  it('a feature clears its tables when a session is deleted, or says why their rows stay', () => {
    expect(checkSessionTables(features)).toEqual([])
    const forgetful = features.map((one) => (one.name === 'inputs' ? { ...one, onSessionDeleted: undefined } : one)) as AnyFeature[]
    expect(checkSessionTables(forgetful)).toEqual([expect.stringContaining('clears inputs'), expect.stringContaining('clears inbox')])
    expect(checkSessionTables(without('runs'))).toContain('no feature has a decider for the table runs')
  })

  it('a feature copies its rows into a fork and names what they refer to, or says why not', () => {
    expect(checkReasons(features)).toEqual([])
    const silent: AnyFeature = { name: 'silent', onForked: '', refs: '' }
    expect(checkReasons([silent])).toEqual([expect.stringContaining('onForked'), expect.stringContaining('an empty reason')])
    const partial = features.map((one) => (one.name === 'threads' ? { ...one, refs: {} } : one)) as AnyFeature[]
    expect(checkReasons(partial)).toEqual([expect.stringContaining('about threads'), expect.stringContaining('about messages')])
  })

  it('a feature can declare only hooks that are used', () => {
    const page = read('src/kernel/feature.ts')
    expect(checkHooks(features, page)).toEqual([])
    const more = page.replace('  /** Checks its options', '  readonly onFullMoon?: () => void\n  /** Checks its options')
    expect(checkHooks(features, more)).toEqual(['no feature declares the hook onFullMoon', 'the hook onFullMoon is read by nobody'])
  })

  it('a feature has a test of its behaviour on every engine', () => {
    const tests = filesUnder('test', (path) => path.endsWith('.test.ts')).map((path) => ({ path, text: read(path) }))
    const names = features.map(({ name }) => name)
    expect(checkBehaviourTests(names, tests, TESTED_ELSEWHERE)).toEqual([])
    expect(Object.keys(TESTED_ELSEWHERE).filter((name) => !names.includes(name as never))).toEqual([])
    expect(checkBehaviourTests(['notes'], tests, {})).toEqual([expect.stringContaining('test/notes/*.test.ts')])
    const idle = { path: 'test/notes/notes.test.ts', text: "test('something', () => {})" }
    expect(checkBehaviourTests(['notes'], [idle], {})).toHaveLength(1)
  })

  it('a feature is explained in a guide, member by member, and every guide is in the index', async () => {
    const guides = filesUnder('docs/guide', (path) => path.endsWith('.md'))
    const index = read('docs/README.md')
    const unlinked = guides.filter((path) => !index.includes(`(guide/${posix.basename(path)})`))
    expect(unlinked.map((path) => `${path} is not linked in docs/README.md`)).toEqual([])
    await using store = await open({ url: ':memory:' })
    const members = await membersOf(store)
    expect(members).toEqual(expect.arrayContaining(['store.cron', 'session.inbox', 'run.ask']))
    const text = guides.map(read).join('\n')
    const unexplained = members.filter((member) => !mentions(text, member))
    expect(unexplained.map((member) => `${member} is explained in no page of docs/guide`)).toEqual([])
    expect(mentions(text, 'store.nothing')).toBe(false)
  })

  it('a feature folds erased events: every evolve accepts an event without data', () => {
    const failures = new FeatureSet(features).deciders.flatMap(({ table, evolve }) =>
      Object.entries(evolve as Readonly<Record<string, (row: unknown, event: Happened) => unknown>>).flatMap(([type, step]) => {
        const erased = { id: ID, type, data: undefined, at: 0, actor: '', session: ID, run: ID, subject: ID } as unknown as Happened
        try {
          step(undefined, erased)
          return []
        } catch (error) {
          return [`${type} of ${table} cannot be folded once it is erased: ${String(error)}`]
        }
      }),
    )
    expect(failures).toEqual([])
  })

  it('a feature is added by the recipe of CONTRIBUTING.md, whose every step is proved by a test', () => {
    const page = read('CONTRIBUTING.md')
    const isThere = (file: string, title: string) => read(file).includes(title)
    expect(checkRecipe(page, isThere)).toEqual([])
    expect(checkRecipe(page, () => false).length).toBeGreaterThan(5)
  })
})

/** The members that features add: own members of the handles. All others are on the prototype. */
async function membersOf(store: Store): Promise<readonly string[]> {
  const session = await store.session('s')
  const run = await session.run('r')
  const own = (name: string, handle: object) => Object.keys(handle).map((member) => `${name}.${member}`)
  const inherited = ['store.blobs', 'run.input']
  return [...own('store', store), ...own('session', session), ...own('run', run)].filter((member) => !inherited.includes(member))
}

const mentions = (text: string, member: string): boolean => new RegExp(`\\b${member.replace('.', '\\.')}\\b`).test(text)
