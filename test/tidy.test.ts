// The house rules, checked. Every checker is a plain function and is also shown something wrong, which it must report.

import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FeatureSet } from '../src/kernel/feature.ts'
import { features } from '../src/kernel/features.ts'
import { ERASED, Registry, TENANT_STATE_EVENTS } from '../src/kernel/writing/decider.ts'
import { catalogue } from '../src/model/catalogue.ts'
import { errors } from '../src/model/errors.ts'
import { limits } from '../src/model/limits.ts'
import { FREE_NOUNS, nounOf } from '../src/model/reserved-nouns.ts'
import { VERSION } from '../src/model/version.ts'
import { readCode } from './support/code.ts'
import { filesUnder, inProject, isSource, read, readJson } from './support/project.ts'
import { checkLengths, checkLinks, checkLock, checkVersions, checkWords, linesOf } from './support/tidy/files.ts'
import { checkErrorPage, checkEventPage, checkLimitPage, checkNouns, checkReservedTypes } from './support/tidy/pages.ts'
import { checkConfig, checkImports, checkPure, checkSql, folderOf, type Room, type RoomConfig, roomsOf } from './support/tidy/rooms.ts'

const LONG_FILES: Readonly<Record<string, string>> = {
  'src/model/errors.ts': 'one table, a row for every refusal',
  'src/model/limits.ts': 'one table, a line for every limit',
  'src/model/tables.ts': 'one table, an entry for every table',
  'src/kernel/wiring/tenant.test.ts': 'one promise of the wall between tenants after the other',
  'test/options.test.ts': 'one list, a line for every call that takes options',
  'test/runs/promises.test.ts': 'the lines of the API about runs, one after the other, as a program writes them',
  'src/kernel/store.test.ts': 'one promise of the public face after the other, in the order a user meets them',
}

const SQL_ELSEWHERE: Readonly<Record<string, string>> = {
  'src/cli/demo/tamper.ts': 'plays someone who changes a copy of the file behind our back',
}

// Made-up paths and marks are what these files are about.
const FULL_OF_SAMPLES = ['test/redact/', 'test/tidy.test.ts', 'test/support/tidy/files.ts']

const sources = filesUnder('src', isSource)
const rooms = roomsOf(read('ARCHITECTURE.md'))
const pureFolders = rooms.filter(({ pure }) => pure).map(({ name }) => `${folderOf(name)}/`)

describe('rooms', () => {
  it('rooms are walled by the compiler as ARCHITECTURE.md says', () => {
    expect(rooms.flatMap((room) => checkConfig(room, readJson<RoomConfig>(`${folderOf(room.name)}/tsconfig.json`)))).toEqual([])
  })

  it('rooms are all in the table and all built', () => {
    const folders = filesUnder('src', (path) => path.endsWith('tsconfig.json'))
      .map((path) => posix.dirname(path))
      .sort()
    expect(folders).toEqual(rooms.map(({ name }) => folderOf(name)).sort())
    const built = readJson<RoomConfig>('tsconfig.json').references?.map(({ path }) => path)
    expect(built?.toSorted()).toEqual([...folders, 'test'].sort())
  })

  it('rooms import only what they may', () => {
    expect(sources.flatMap((path) => checkImports(path, read(path), rooms))).toEqual([])
  })

  it('pure rooms have no clock, no chance, no timers and no machine', () => {
    expect(pureFolders).toEqual(['src/model/', 'src/ports/', 'src/redact/', 'src/vectors/math/', 'src/kernel/', 'src/backends/memory/'])
    const pure = sources.filter((path) => pureFolders.some((folder) => path.startsWith(folder)))
    expect(pure.flatMap((path) => checkPure(path, read(path)))).toEqual([])
  })

  it('rooms hold SQL only where a database is', () => {
    const elsewhere = sources.filter((path) => !path.startsWith('src/backends/') && !(path in SQL_ELSEWHERE))
    expect(elsewhere.flatMap((path) => checkSql(path, read(path)))).toEqual([])
  })

  const model: Room = { name: 'model', mayImport: [], pure: true, packages: [] }
  const kernel: Room = { name: 'kernel', mayImport: ['model'], pure: true, packages: [] }
  const index: Room = { name: 'index', mayImport: ['model', 'kernel'], pure: false, packages: ['commander'] }

  it.each([
    ['a reference too many', kernel, { references: [{ path: '../model' }, { path: '..' }] }, 'kernel refers to index'],
    ['a reference too few', kernel, { references: [] }, 'kernel may import model'],
    ['Node in a pure room', kernel, { compilerOptions: { types: ['node'] }, references: [{ path: '../model' }] }, 'kernel is pure'],
    ['no Node where the table says Node', index, { references: [{ path: 'model' }, { path: 'kernel' }] }, 'index is said to see Node'],
  ] as const)('rooms are reported with %s', (_, room, config, said) => {
    expect(checkConfig(room, config)).toEqual([expect.stringContaining(said)])
  })

  it.each([
    ['src/kernel/a.ts', "import { b } from '../index.ts'", 'is in kernel and imports index'],
    ['src/model/a.ts', "export type { B } from '../kernel/b.ts'", 'is in model and imports kernel'],
    ['src/model/a.ts', "const b = await import('../kernel/b.ts')", 'is in model and imports kernel'],
    ['src/kernel/deep/a.ts', "import { readFileSync } from 'node:fs'", 'imports node:fs'],
    ['src/kernel/a.ts', "import {\n  x,\n} from 'lodash/fp'", 'imports the package lodash'],
    ['src/open.ts', "import '@scope/thing/part'", 'imports the package @scope/thing'],
    ['src/attic/a.ts', '', 'lies in no room'],
  ])('rooms are reported when %s says %s', (path, source, said) => {
    expect(checkImports(path, source, [model, kernel, index])).toEqual([expect.stringContaining(said)])
  })

  it.each([
    'const t = Date.now()',
    'const t = new Date( )',
    'const r = Math.random()',
    'setTimeout(() => {}, 1)',
    'setInterval(f, 1)',
    'setImmediate(f)',
    'crypto.randomUUID()',
    'process.exit(1)',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the source of a template
    'const t = `at ${performance.now()}`',
    "globalThis['process']",
  ])('pure rooms are reported when they say %s', (source) => {
    expect(checkPure('src/kernel/a.ts', source)).toHaveLength(1)
  })

  it('pure rooms may mention clocks, chance and timers in text and comments', () => {
    const harmless =
      '// Date.now() is not for us\nconst words = [\'process\', "crypto", `setTimeout`]\nconst p = /Math.random/\nlet a: Date = new Date(1)'
    expect(checkPure('src/kernel/a.ts', harmless)).toEqual([])
  })

  it.each(["'select 1 from t'", '`\n  insert into t values (1)`', '"PRAGMA foreign_keys"', "'delete from t'", "'create table t (a)'"])(
    'rooms are reported when they hold %s',
    (text) => {
      expect(checkSql('src/kernel/a.ts', `const sql = ${text}`)).toHaveLength(1)
      expect(checkSql('src/kernel/a.ts', `// ${text}\nconst say = 'Selected by the user, updated since'`)).toEqual([])
    },
  )

  it('rooms are read with strings, templates and regular expressions told apart', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the source of a template
    const { bare, texts } = readCode("const a = b / c / d; const r = /['\"`]/g; const t = `x${f('y')}z` // it's")
    expect(texts).toEqual(['x', 'y', 'z'])
    expect(bare).toContain('b / c / d')
    expect(bare).not.toContain('it')
  })
})

describe('reference pages', () => {
  it('reference pages describe every error with its kind', () => {
    const page = read('docs/reference/errors.md')
    expect(checkErrorPage(page, errors)).toEqual([])
    expect(checkErrorPage(page, { ...errors, NEVER_SEEN: { kind: 'denied' } })).toEqual(['error NEVER_SEEN is not on its page'])
    expect(checkErrorPage(page, { ...errors, DISK_FULL: { kind: 'corrupt' } })).toEqual([
      expect.stringContaining('DISK_FULL is of kind corrupt'),
    ])
    const stray = `${page}\n## STRAY_CODE\n\nKind: \`denied\`\n\nSomething that is nowhere in the code, described at length.\n`
    expect(checkErrorPage(stray, errors)).toEqual(['the page describes error STRAY_CODE, which does not exist'])
    expect(checkErrorPage(page.replace(/(## DISK_FULL\n)[\s\S]*?(?=\n## )/, '$1\nKind: `exhausted`\n'), errors)).toHaveLength(1)
  })

  it('reference pages give every limit its value', () => {
    const page = read('docs/reference/limits.md')
    expect(checkLimitPage(page, limits)).toEqual([])
    expect(checkLimitPage(page, { ...limits, dataDepth: 65 })).toEqual([expect.stringContaining('dataDepth is 65')])
    expect(checkLimitPage(page, { ...limits, another: 1 })).toEqual(['limit another is not on its page'])
    const { dataDepth: _, ...fewer } = limits
    expect(checkLimitPage(page, fewer)).toEqual(['the page describes limit dataDepth, which does not exist'])
  })

  it('reference pages list the standard event types as the catalogue has them', () => {
    const page = read('docs/reference/events.md')
    expect(checkEventPage(page, catalogue)).toEqual([])
    expect(checkEventPage(page, catalogue.slice(1))).toHaveLength(1)
    expect(checkEventPage(page.replace('a tool was called', 'a tool was asked'), catalogue)).toHaveLength(1)
  })

  it('reference pages list the reserved event types', () => {
    const page = read('docs/reference/events.md')
    const { deciders, tapeTypes } = new FeatureSet(features)
    const folded = deciders.flatMap(({ evolve }) => Object.keys(evolve))
    const reserved = [...folded, ...tapeTypes, ...Object.values(TENANT_STATE_EVENTS), ERASED]
    expect(checkReservedTypes(page, reserved)).toEqual([])
    expect(checkReservedTypes(page, [...reserved, 'session.forgotten'])).toHaveLength(1)
  })

  it('reference pages list the reserved nouns, and those that no feature and no entry of the catalogue may change', () => {
    const page = read('docs/reference/events.md')
    const { deciders, tapeTypes } = new FeatureSet(features)
    const { nouns } = new Registry(deciders, tapeTypes)
    expect(checkNouns(page, 'Reserved nouns', [...nouns])).toEqual([])
    expect(checkNouns(page, 'Never reserved', FREE_NOUNS)).toEqual([])
    expect(checkNouns(page, 'Never reserved', [...FREE_NOUNS, 'gadget'])).toHaveLength(1)
    expect(FREE_NOUNS.filter((noun) => nouns.has(noun))).toEqual([])
    expect(catalogue.filter(({ type }) => nouns.has(nounOf(type)))).toEqual([])
  })

  it('reference pages link to files that are there', () => {
    const pages = filesUnder('', (path) => path.endsWith('.md'))
    const exists = (page: string) => (target: string) => existsSync(inProject(posix.dirname(page), target))
    expect(pages.flatMap((page) => checkLinks(page, read(page), exists(page)))).toEqual([])
    expect(checkLinks('a.md', 'see [b](b.md#c)', () => false)).toEqual(['a.md links to b.md, which is not there'])
  })
})

describe('files', () => {
  const ours = filesUnder('', (path) => /\.(?:ts|js|md|json|sql|py|yml|txt)$/.test(path) || path.startsWith('.ci/'))

  it('files hold no marks of unfinished work and no paths of one machine', () => {
    const checked = ours.filter((path) => !FULL_OF_SAMPLES.some((sample) => path.startsWith(sample)))
    expect(checked.flatMap((path) => checkWords(path, read(path)))).toEqual([])
  })

  it.each(['// TODO: later', 'FIXME', 'XXX', '# HACK', "const p = '/home/ada/x'", 'see /Users/ada/notes', 'C:\\Users\\ada'])(
    'files are reported when they say %s',
    (line) => {
      expect(checkWords('a.ts', `fine\n${line}`)).toEqual([expect.stringContaining('a.ts:2')])
      expect(checkWords('a.ts', 'a hacksaw, mastodons, docs/home/page.md, https://example.org/home/x')).toEqual([])
    },
  )

  it('files are short, or on the list with a reason', () => {
    const code = ours.filter((path) => path.endsWith('.ts')).map((path) => ({ path, lines: linesOf(read(path)) }))
    expect(checkLengths(code, LONG_FILES)).toEqual([])
    expect(checkLengths([{ path: 'a.ts', lines: 301 }], {})).toEqual(['a.ts has 301 lines and no reason on the list'])
    expect(checkLengths([{ path: 'a.ts', lines: 300 }], { 'a.ts': 'once long' })).toEqual([
      'a.ts is on the list of long files and is not long',
    ])
  })

  it('files of the package manager name no host', () => {
    for (const path of ours.filter((file) => file.endsWith('package-lock.json'))) expect(checkLock(readJson(path))).toEqual([])
    expect(checkLock({ packages: { 'node_modules/a': { resolved: 'https://somewhere/a.tgz' } } })).toHaveLength(1)
  })

  it('files agree on the version', () => {
    const { version } = readJson<{ version: string }>('package.json')
    const lock = readJson<Parameters<typeof checkVersions>[1]>('package-lock.json')
    expect(checkVersions(version, lock, read('CHANGELOG.md'))).toEqual([])
    expect(VERSION).toBe(version)
    expect(checkVersions('9.9.9', lock, read('CHANGELOG.md'))).toHaveLength(3)
    expect(checkVersions(version, lock, 'no headings')).toHaveLength(1)
  })
})
