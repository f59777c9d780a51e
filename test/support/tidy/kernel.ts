// The inner walls of the kernel: no import cycle at run time, and which folder may import which, types included.

import { posix } from 'node:path'
import type { AnyFeature } from '../../../src/kernel/feature.ts'
import { type Table, tables } from '../../../src/model/tables.ts'
import { tableOf } from '../markdown.ts'

const FEATURES = 'src/kernel/features/'

export interface Source {
  readonly path: string
  readonly text: string
}

/** Which files a file imports at run time, by their paths. */
export function runtimeImports({ path, text }: Source): readonly string[] {
  const found = text.matchAll(/^(?:import|export)\s+(?!type\b)([^'"]*?)\s*from\s*'(\.[^']+)'/gms)
  return [...found]
    .filter(([, names = '']) => !onlyTypes(names))
    .map(([, , specifier = '']) => posix.normalize(posix.join(posix.dirname(path), specifier)))
}

function onlyTypes(names: string): boolean {
  const list = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1]
  const members = list
    ?.split(',')
    .map((name) => name.trim())
    .filter(Boolean)
  return members?.every((name) => name.startsWith('type ')) ?? false
}

/** Which files a file imports, its types included. */
export const allImports = ({ path, text }: Source): readonly string[] =>
  [...text.matchAll(/^(?:import|export)\s[^'"]*?\sfrom\s*'(\.[^']+)'/gms)].map(([, specifier = '']) =>
    posix.normalize(posix.join(posix.dirname(path), specifier)),
  )

/** Every knot of files that import each other, in whatever round. */
export function checkCycles(sources: readonly Source[]): readonly string[] {
  const graph = new Map(sources.map((source) => [source.path, runtimeImports(source)]))
  const reach = new Map<string, ReadonlySet<string>>()
  for (const start of graph.keys()) {
    const seen = new Set<string>()
    const open = [...(graph.get(start) ?? [])]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue
      seen.add(next)
      open.push(...(graph.get(next) ?? []))
    }
    reach.set(start, seen)
  }
  const knotted = [...graph.keys()].filter((path) => reach.get(path)?.has(path))
  const knots = Map.groupBy(knotted, (path) =>
    knotted.filter((other) => reach.get(path)?.has(other) && reach.get(other)?.has(path)).join(' ↔ '),
  )
  return [...knots.keys()].map((knot) => `import cycle: ${knot}`)
}

export interface Wall {
  readonly folder: string
  readonly mayImport: readonly string[]
}

/** The table of ARCHITECTURE.md about the features. */
export const wallsOf = (page: string): readonly Wall[] =>
  tableOf(page, 'feature', 'may import').map((row) => ({
    folder: row.feature as string,
    mayImport: (row['may import'] as string).split(', ').filter((name) => name !== '–'),
  }))

/** The folders that every feature may import. */
export const basicsOf = (page: string): readonly string[] =>
  tableOf(page, 'kernel folder', 'holds').map((row) => row['kernel folder'] as string)

/** The feature that a file belongs to; `''` for all others. */
export const featureOf = (path: string): string =>
  path.startsWith(FEATURES) ? (/^([^/]+)\//.exec(path.slice(FEATURES.length))?.[1] ?? '') : ''

/** The folder of basics that a file lies in. */
const basicOf = (path: string): string | undefined => /^src\/kernel\/(?!features\/)([^/]+)\//.exec(path)?.[1]

export interface Root {
  /** Files that put the store together: they import everything, and nothing imports them. */
  readonly top: readonly string[]
  /** Files whose types everything may import. At run time only the top does. */
  readonly contract: readonly string[]
}

/** Basics import basics, features also the features that the table allows, and the top imports everything. */
export function checkWalls(
  sources: readonly Source[],
  walls: readonly Wall[],
  basics: readonly string[],
  { top, contract }: Root,
): readonly string[] {
  const known = new Map(walls.map(({ folder, mayImport }) => [folder, mayImport]))
  return sources.flatMap((source) => {
    const { path } = source
    const feature = featureOf(path)
    const basic = basicOf(path)
    if ((feature !== '' && !known.has(feature)) || (basic !== undefined && !basics.includes(basic)))
      return [`${path} lies in a folder that ARCHITECTURE.md does not list`]
    if (feature === '' && basic === undefined)
      return [...top, ...contract].includes(path)
        ? []
        : [`${path} lies in the root of the kernel, which holds the store and its wiring only`]
    const atRunTime = runtimeImports(source)
    return allImports(source).flatMap((target) => {
      const other = featureOf(target)
      if (top.includes(target)) return [`${path} imports ${target}, which is at the top of the kernel`]
      if (contract.includes(target)) return atRunTime.includes(target) ? [`${path} imports more than types of ${target}`] : []
      if (other === '' || other === feature || known.get(feature)?.includes(other)) return []
      return [`${path} is in ${feature || basic} and imports ${target}`]
    })
  })
}

/** Deleting a session must reach every table that names its session, or the feature says why its rows stay. */
export function checkSessionTables(list: readonly AnyFeature[], known: Readonly<Record<string, Table>> = tables): readonly string[] {
  return Object.entries(known)
    .filter(([, { columns }]) => 'session' in columns)
    .flatMap(([table]) => {
      const owner = list.find(({ deciders = [] }) => deciders.some((decider) => decider.table === table))
      if (!owner) return [`no feature has a decider for the table ${table}`]
      const reason = (owner.keptWithoutSession as Readonly<Record<string, string>> | undefined)?.[table]
      return owner.onSessionDeleted || reason
        ? []
        : [`${owner.name} neither clears ${table} in onSessionDeleted nor says in keptWithoutSession why not`]
    })
}

/** `onForked` and `refs` are a hook or a reason, for each table of the feature. */
export const checkReasons = (list: readonly AnyFeature[]): readonly string[] =>
  list.flatMap(({ name, deciders = [], onForked, refs }) => [
    ...(saysSomething(onForked) ? [] : [`${name} neither copies its rows in onForked nor says there why a fork begins without them`]),
    ...(typeof refs === 'string' ? [] : deciders.map(({ table }) => table).filter((table) => !(table in refs))).map(
      (table) => `${name} says in refs nothing about ${table}: which values its rows refer to, or why to none`,
    ),
    ...(typeof refs === 'string' ? [refs] : Object.values(refs)).flatMap((one) =>
      saysSomething(one) ? [] : [`${name} gives an empty reason in refs`],
    ),
  ])

const saysSomething = (hook: unknown): boolean => typeof hook === 'function' || (typeof hook === 'string' && hook.trim().length > 10)

/** Every member of `Feature` is declared by a feature, and read by somebody: a hook that nobody calls promises something that does not happen. */
export function checkHooks(list: readonly AnyFeature[], page: string): readonly string[] {
  const declared = /interface Feature<[\s\S]*?\n\}/.exec(page)?.[0] ?? ''
  const hooks = [...declared.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, hook = '']) => hook)
  const rest = page.replace(declared, '')
  return hooks.flatMap((hook) => [
    ...(list.some((one) => hook in one) ? [] : [`no feature declares the hook ${hook}`]),
    ...(hook in ELSEWHERE || new RegExp(`\\b${hook}\\b`).test(rest) ? [] : [`the hook ${hook} is read by nobody`]),
  ])
}

/** Read outside of `feature.ts`. */
const ELSEWHERE: Readonly<Record<string, string>> = { keptWithoutSession: 'by checkSessionTables' }

/** A feature has tests of its behaviour, on every engine: in its own folder, or where `elsewhere` says. */
export function checkBehaviourTests(
  names: readonly string[],
  tests: readonly Source[],
  elsewhere: Readonly<Record<string, string>>,
): readonly string[] {
  return names.flatMap((name) => {
    const own = tests.filter(({ path }) => path === elsewhere[name] || path.startsWith(`test/${name}/`))
    const works = own.some(({ text }) => /each\((engines|layouts)\b/.test(text) && text.includes('expectSound('))
    const where = elsewhere[name] ?? `test/${name}/*.test.ts`
    return works ? [] : [`${name} has no test in ${where} that runs on every engine and ends with expectSound`]
  })
}

/** Every folder of the kernel that holds a decider is a feature, complete and listed. */
export function checkFeatures(list: readonly AnyFeature[], paths: readonly string[], index: string): readonly string[] {
  const folders = new Set(paths.filter((path) => path.endsWith('-decider.ts')).map(featureOf))
  const names = list.map(({ name }) => name)
  return [
    ...[...folders].filter((folder) => !names.includes(folder)).map((folder) => `${folder} has deciders and is not in features.ts`),
    ...list.flatMap(({ name, deciders = [] }) => [
      ...['feature.ts', 'public.ts']
        .filter((file) => !paths.includes(`${FEATURES}${name}/${file}`))
        .map((file) => `${FEATURES}${name}/${file} is missing`),
      ...(index.includes(`'./kernel/features/${name}/public.ts'`) ? [] : [`src/index.ts does not re-export ${name}/public.ts`]),
      ...(paths.filter((path) => featureOf(path) === name && path.endsWith('-decider.ts')).length === deciders.length
        ? []
        : [`${name} lists ${deciders.length} deciders, not one for each of its files *-decider.ts`]),
    ]),
  ]
}

/** The checklist of CONTRIBUTING.md: every step names the test that fails when it is forgotten. */
export function checkRecipe(page: string, titleIsThere: (file: string, title: string) => boolean): readonly string[] {
  return tableOf(page, 'step', 'where').flatMap(({ step = '', 'forgotten, this fails': proof = '' }) => {
    if (proof === 'the compiler') return []
    const [file, title] = proof.split(': ')
    return file && title && titleIsThere(file, title) ? [] : [`the step '${step}' names no test that exists: ${proof}`]
  })
}
