// Writes down what users can see: the exports of every entry point, with every declaration reached from them. A change of this
// text is a change of the public API; test/surface.test.ts compares it, `npm run surface` rewrites it.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
export const SURFACE = 'docs/reference/api-surface.txt'

/** The shape of a feature leads to the whole kernel. Users meet only the members that features add, which are followed. */
const INSIDE: readonly string[] = ['kernel/feature.d.ts']

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
}

interface Declaration {
  readonly name: string
  readonly text: string
}

interface Module {
  readonly declared: ReadonlyMap<string, Declaration>
  /** Local name → where it comes from. */
  readonly imported: ReadonlyMap<string, { readonly from: string; readonly name: string }>
  /** Exported name → where it is declared; `from` is absent when that is here. */
  readonly exported: ReadonlyMap<string, { readonly from?: string; readonly name: string }>
  readonly starred: readonly Star[]
}

/** A file whose exports are all exported from here too, perhaps under a name: `faults.`. */
interface Star {
  readonly from: string
  readonly under: string
}

/** Files are given as their declarations' paths: `index.d.ts`, `model/ids.d.ts`. */
export function describeSurface(entries: Readonly<Record<string, string>>, readFile: (path: string) => string): string {
  const modules = new Map<string, Module>()
  const moduleAt = (path: string): Module => {
    const known = modules.get(path)
    if (known) return known
    const { starred, ...parsed } = parseModule(path, readFile(path))
    const exported = new Map(parsed.exported)
    for (const { from, under } of starred) {
      for (const name of moduleAt(from).exported.keys()) if (!exported.has(under + name)) exported.set(under + name, { from, name })
    }
    const at = { ...parsed, exported, starred }
    modules.set(path, at)
    return at
  }
  // Follows re-exports to the file that declares the name; undefined for what comes from outside the package.
  const locate = (path: string, name: string): { path: string; name: string } | undefined => {
    const at = moduleAt(path)
    const exported = at.exported.get(name) ?? (at.declared.has(name) ? { name } : undefined)
    if (!exported) return undefined
    if (exported.from !== undefined) return exported.from.startsWith('.') ? undefined : locate(exported.from, exported.name)
    return { path, name: exported.name }
  }

  const lines: string[] = []
  const reached = new Map<string, string>()
  const reach = (path: string, name: string): void => {
    const key = `${path} ${name}`
    const declaration = moduleAt(path).declared.get(name)
    if (!declaration || reached.has(key) || INSIDE.includes(path)) return
    reached.set(key, declaration.text)
    for (const [word] of declaration.text.matchAll(/[A-Za-z_$][\w$]*/g)) {
      const { declared, imported } = moduleAt(path)
      const source = imported.get(word)
      const found = source ? locate(source.from, source.name) : declared.has(word) && word !== name ? { path, name: word } : undefined
      if (found) reach(found.path, found.name)
    }
  }
  for (const [entry, path] of Object.entries(entries)) {
    lines.push(`${entry}`, ...[...moduleAt(path).exported.keys()].sort().map((name) => `  ${name}`), '')
    for (const name of moduleAt(path).exported.keys()) {
      const found = locate(path, name)
      if (found) reach(found.path, found.name)
    }
  }
  for (const [key, text] of [...reached].sort(([a], [b]) => (a < b ? -1 : 1))) {
    lines.push(`${key.split(' ')[0]?.replace('.d.ts', '')}: ${text}`)
  }
  return `${lines.join('\n')}\n`
}

function parseModule(path: string, source: string): Module {
  const declared = new Map<string, Declaration>()
  const imported = new Map<string, { from: string; name: string }>()
  const exported = new Map<string, { from?: string; name: string }>()
  const starred: Star[] = []
  for (const text of statementsOf(source)) {
    const all = /^export (?:type )?\* (?:as ([\w$]+) )?from ['"]([^'"]+)['"];?$/.exec(text)
    if (all) {
      starred.push({ from: targetOf(path, all[2] as string), under: all[1] === undefined ? '' : `${all[1]}.` })
      continue
    }
    const list = /^(import|export) (?:type )?\{([^}]*)\}(?: from ['"]([^'"]+)['"])?;?$/.exec(text)
    if (list) {
      const from = list[3] === undefined ? undefined : targetOf(path, list[3])
      for (const item of (list[2] as string)
        .split(',')
        .map((part) => part.trim().replace(/^type /, ''))
        .filter(Boolean)) {
        const [name, alias] = item.split(' as ') as [string, string | undefined]
        if (list[1] === 'import') imported.set(alias ?? name, { from: from as string, name })
        else exported.set(alias ?? name, from === undefined ? { name } : { from, name })
      }
      continue
    }
    const declaration = /^(export )?(?:declare )?(?:abstract )?(?:const|let|function|class|interface|type|namespace) ([\w$]+)/.exec(text)
    if (!declaration) continue
    const name = declaration[2] as string
    const before = declared.get(name)
    declared.set(name, { name, text: [...(before ? [before.text] : []), text.replace(/^export /, '').replace(/^declare /, '')].join(' ') })
    if (declaration[1]) exported.set(name, { name })
  }
  // Only types of the package itself are followed; what Node or the language gives stays a name.
  for (const [name, { from }] of imported) if (from.startsWith('.')) imported.delete(name)
  return { declared, imported, exported, starred }
}

/** Paths inside the package lose their leading dot; everything else keeps one, to tell the two apart. */
const targetOf = (path: string, specifier: string): string =>
  specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier).replace(/(?:\.d)?\.[jt]s$/, '.d.ts') : `.${specifier}`

/** Top-level statements on one line each, without comments. */
function statementsOf(source: string): readonly string[] {
  const text = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
  const statements: string[] = []
  let depth = 0
  let from = 0
  for (let i = 0; i <= text.length; i++) {
    const c = text[i]
    if (c === '{' || c === '(' || c === '[') depth++
    if (c === '}' || c === ')' || c === ']') depth--
    const starts = depth === 0 && c === '\n' && /^(?:import|export|declare|type|interface|const|class)\b/.test(text.slice(i + 1, i + 12))
    if (starts || i === text.length) {
      const statement = text.slice(from, i).replace(/\s+/g, ' ').trim()
      if (statement !== '') statements.push(statement)
      from = i + 1
    }
  }
  return statements
}

/** Compiles the declarations into a folder of their own: dist may be absent, old, or being written. */
export function readSurface(): string {
  const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as Manifest
  const entries = Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === 'string' ? [] : [[subpath.replace('.', 'inkfast'), target.types.replace('./dist/types/', '')] as const],
  )
  mkdirSync(`${root}node_modules/.cache`, { recursive: true })
  const folder = mkdtempSync(`${root}node_modules/.cache/surface-`)
  try {
    const config = {
      extends: '../../../tsconfig.base.json',
      compilerOptions: {
        types: ['node'],
        typeRoots: ['../../@types'],
        rootDir: '../../../src',
        outDir: './out',
        composite: false,
        incremental: false,
        declaration: true,
        emitDeclarationOnly: true,
      },
      files: entries.map(([, path]) => `../../../src/${path.replace('.d.ts', '.ts')}`),
    }
    writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(config))
    const compiled = spawnSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', folder], { encoding: 'utf8' })
    if (compiled.status !== 0) throw new Error(`The declarations could not be made:\n${compiled.stdout}${compiled.stderr}`)
    return describeSurface(Object.fromEntries(entries), (path) => readFileSync(`${folder}/out/${path}`, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const text = readSurface()
  if (process.argv.includes('--write')) {
    writeFileSync(`${root}${SURFACE}`, text)
    console.log(`Wrote ${SURFACE}.`)
  } else process.stdout.write(text)
}
