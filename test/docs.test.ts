// The pages, tried: their code compiles, the quick start runs as written, every example ends well.

import { existsSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errors } from '../src/model/errors.ts'
import { compileSnippets, snippetsOf } from './support/docs.ts'
import { checkGuarantees, promisesOf } from './support/guarantees.ts'
import { blocksOf, sectionOf } from './support/markdown.ts'
import { emptyFolder, filesUnder, fromSource, inProject, node, type Ran, read } from './support/project.ts'

const pages = ['README.md', 'AGENTS.md', ...filesUnder('docs', (path) => path.endsWith('.md'))]
const examples = filesUnder('examples', (path) => path.endsWith('.ts'))

describe('code on the pages', () => {
  it('code on the pages compiles', async () => {
    const snippets = pages.flatMap((path) => snippetsOf(path, read(path)))
    expect(snippets.length).toBeGreaterThan(5)
    expect(await compileSnippets(snippets)).toEqual([])
  })

  it('code on the pages is reported with its page when it does not', async () => {
    const page =
      "Text.\n\n```ts\nimport { open } from 'inkfast'\nconst store = await open('a.db')\n```\n\nMore.\n\n```ts\nawait store.appendd()\n```\n"
    expect(await compileSnippets(snippetsOf('page.md', page))).toContainEqual(
      expect.stringMatching(/^page\.md:4 \(line 3 of it\): error TS2339/),
    )
  })

  it('code on the pages goes on from the block before it unless it begins with an import', () => {
    const page = "```ts\nimport 'a'\n```\n```ts\nb()\n```\n```text\nno code\n```\n```ts\n// Why.\nimport 'c'\n```\n"
    expect(snippetsOf('p.md', page)).toEqual([
      { place: 'p.md:2', text: "import 'a'\nb()" },
      { place: 'p.md:11', text: "// Why.\nimport 'c'" },
    ])
  })
})

describe('the page of guarantees', () => {
  const path = 'docs/reference/guarantees.md'
  const readIfThere = (file: string) => (existsSync(inProject(file)) ? read(file) : undefined)

  it('the page of guarantees names a test for every promise, and each of them is there', () => {
    expect(promisesOf(read(path)).length).toBeGreaterThan(30)
    expect(checkGuarantees(path, read(path), readIfThere)).toEqual([])
  })

  it('the page of behaviours taken over from earlier designs names tests that exist', () => {
    const taken = 'docs/internals/seed-behaviours.md'
    expect(promisesOf(read(taken)).length).toBeGreaterThan(90)
    expect(checkGuarantees(taken, read(taken), readIfThere)).toEqual([])
  })

  it('the page of guarantees speaks of every table that either database has', () => {
    const told = promisesOf(read(path)).map(({ promise }) => /^`(\w+)`/.exec(promise)?.[1])
    for (const backend of ['sqlite', 'postgres']) {
      const tables = [...read(`src/backends/${backend}/schema.sql`).matchAll(/^create table (?:inkfast\.)?(\w+)/gim)].map(
        ([, name]) => name,
      )
      expect(tables.length).toBeGreaterThan(7)
      const untold = tables.filter((name) => !told.includes(name)).map((name) => `table ${name} has no row in ${path}`)
      expect(untold).toEqual([])
    }
  })

  it('the page of guarantees is reported when it promises more than is shown', () => {
    const row = (last: string) => `| promise | shown by |\n|---|---|\n| it holds | ${last} |\n`
    const source = "test('it does hold', () => {})"
    expect(checkGuarantees(path, row('[it does hold](../../test/a.ts)'), () => source)).toEqual([])
    expect(checkGuarantees(path, row('[it does](../../test/a.ts)'), () => source)).toEqual(["it holds: test/a.ts has no test 'it does'"])
    expect(checkGuarantees(path, row('[it does hold](../../test/b.ts)'), () => undefined)).toEqual(['it holds: there is no test/b.ts'])
    expect(checkGuarantees(path, row('trust us'), () => source)).toEqual(['nothing shows that it holds'])
  })
})

describe('the pages for agents', () => {
  const MOST_LINES = 150

  it('the pages for agents are short, and name errors and pages that exist', () => {
    const page = read('AGENTS.md')
    expect(page.split('\n').length).toBeLessThanOrEqual(MOST_LINES)
    const codes = [...page.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code]) => code as string)
    expect(codes.length).toBeGreaterThan(10)
    expect(codes.filter((code) => !Object.hasOwn(errors, code))).toEqual([])
    const named = [...page.matchAll(/`(docs\/[\w/-]+\.md)`/g)].map(([, path]) => path as string)
    expect(named.filter((path) => !existsSync(inProject(path)))).toEqual([])
  })

  it('the pages for agents list every guide and every page of reference', () => {
    const listed = [...read('llms.txt').matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => path as string)
    expect(listed.filter((path) => !existsSync(inProject(path)))).toEqual([])
    const shipped = pages.filter((path) => /^docs\/(?:guide|reference)\//.test(path))
    expect(shipped.filter((path) => !listed.includes(path))).toEqual([])
  })
})

describe('the quick start', () => {
  const quickStart = (page: string) => {
    const [code, output] = ['ts', 'text'].map((language) =>
      blocksOf(sectionOf(page, 'Quick start')).find((block) => block.language === language),
    )
    if (!code || !output) throw new Error('The quick start has a program and what it prints.')
    return { code: code.text, output: `${output.text}\n` }
  }
  const tryOut = async (code: string): Promise<Ran> => {
    using folder = emptyFolder()
    writeFileSync(`${folder.path}/quick-start.ts`, code)
    return await node([...fromSource, 'quick-start.ts'], { cwd: folder.path })
  }

  it('the quick start of the README runs as written and prints what the README says', async () => {
    const { code, output } = quickStart(read('README.md'))
    expect(await tryOut(code)).toEqual({ code: 0, out: output, err: '' })
  })

  it('the quick start is told from one that prints something else', async () => {
    const { code, output } = quickStart(read('README.md'))
    const other = await tryOut(`${code}\nconsole.log('one line more')\n`)
    expect(other.code).toBe(0)
    expect(other.out).not.toBe(output)
  })
})

describe('samples of the README', () => {
  const samples = blocksOf(read('README.md')).filter(({ language }) => language === 'ts')
  const tryOut = async (code: string, timeoutMs: number): Promise<Ran> => {
    using folder = emptyFolder()
    writeFileSync(`${folder.path}/sample.ts`, code)
    return await node([...fromSource, 'sample.ts'], { cwd: folder.path, timeoutMs })
  }

  it('samples of the README end by themselves, without an error', async () => {
    expect(samples.length).toBeGreaterThanOrEqual(3)
    for (const { text } of samples) expect(await tryOut(text, 60_000)).toMatchObject({ code: 0, err: '' })
  })

  it('samples of the README that never end are reported', async () => {
    expect((await tryOut('setInterval(() => {}, 1000)', 1000)).code).not.toBe(0)
  })
})

describe('examples', () => {
  it('examples are there', () => {
    expect(examples.length).toBeGreaterThanOrEqual(3)
  })

  it.each(examples)('%s runs in an empty folder and ends well', async (path) => {
    using folder = emptyFolder()
    const { code, err } = await node([...fromSource, inProject(path)], { cwd: folder.path })
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  it.each(examples)('%s says how to run it', (path) => {
    expect(read(path)).toContain(`node examples/${posix.basename(path)}`)
  })

  it('examples that fail are told from those that do not', async () => {
    using folder = emptyFolder()
    writeFileSync(`${folder.path}/broken.ts`, "import { open } from 'inkfast'\nawait open('missing/folder/a.db')\n")
    const { code, err } = await node([...fromSource, 'broken.ts'], { cwd: folder.path })
    expect(code).not.toBe(0)
    expect(err).toContain('FOLDER_MISSING')
  })
})
