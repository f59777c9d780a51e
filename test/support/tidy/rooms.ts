// The walls between rooms: what each may import, what the compiler is told, and what pure rooms must not touch.

import { posix } from 'node:path'
import { importsOf, readCode } from '../code.ts'
import { tableOf } from '../markdown.ts'

export interface Room {
  /** `model`, `backends/sqlite`; `index` is the files directly in src. */
  readonly name: string
  readonly mayImport: readonly string[]
  readonly pure: boolean
  readonly packages: readonly string[]
}

export interface RoomConfig {
  readonly compilerOptions?: { readonly types?: readonly string[] }
  readonly references?: readonly { readonly path: string }[]
}

const list = (cell: string): readonly string[] => (cell === '–' || cell === 'none' ? [] : cell.split(', '))

/** The table of ARCHITECTURE.md. */
export function roomsOf(page: string): readonly Room[] {
  return tableOf(page, 'room', 'may import').map((row) => ({
    name: (row.room as string).replace('src/', ''),
    mayImport: list(row['may import'] as string),
    pure: (row['compiled with'] as string).startsWith('ES only'),
    packages: list(row['npm packages'] as string),
  }))
}

export const folderOf = (room: string): string => (room === 'index' ? 'src' : `src/${room}`)
const nameOf = (folder: string): string => (folder === 'src' ? 'index' : folder.replace('src/', ''))

/** Does the compiler hold the wall that the table draws? */
export function checkConfig(room: Room, config: RoomConfig): readonly string[] {
  const referred = (config.references ?? []).map(({ path }) => nameOf(posix.join(folderOf(room.name), path).replace(/\/$/, '')))
  const types = config.compilerOptions?.types ?? []
  return [
    ...referred.filter((name) => !room.mayImport.includes(name)).map((name) => `${room.name} refers to ${name}, the table does not`),
    ...room.mayImport.filter((name) => !referred.includes(name)).map((name) => `${room.name} may import ${name}, its references say no`),
    ...(room.pure && types.length > 0 ? [`${room.name} is pure but compiled with the types of ${types.join(', ')}`] : []),
    ...(!room.pure && !types.includes('node') ? [`${room.name} is said to see Node but is compiled without its types`] : []),
  ]
}

export function roomOfFile(path: string, rooms: readonly Room[]): Room | undefined {
  const folder = posix.dirname(path)
  return (
    rooms.find(({ name }) => name !== 'index' && `${folder}/`.startsWith(`${folderOf(name)}/`)) ??
    (folder === 'src' ? rooms.find(({ name }) => name === 'index') : undefined)
  )
}

/** The imports of a file that its room forbids. */
export function checkImports(path: string, source: string, rooms: readonly Room[]): readonly string[] {
  const room = roomOfFile(path, rooms)
  if (!room) return [`${path} lies in no room of the table`]
  return importsOf(source).flatMap((specifier) => {
    if (specifier.startsWith('node:')) return room.pure ? [`${path} is in a pure room and imports ${specifier}`] : []
    if (!specifier.startsWith('.')) {
      const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
      return room.packages.includes(name) ? [] : [`${path} imports the package ${name}, the table does not allow it`]
    }
    const target = roomOfFile(posix.join(posix.dirname(path), specifier), rooms)
    if (!target) return [`${path} imports ${specifier}, which lies in no room`]
    return target === room || room.mayImport.includes(target.name) ? [] : [`${path} is in ${room.name} and imports ${target.name}`]
  })
}

const ACTS: readonly (readonly [string, RegExp])[] = [
  ['Date.now', /\bDate\.now\b/],
  ['new Date()', /\bnew Date\(\s*\)/],
  ['Math.random', /\bMath\.random\b/],
  ...['setTimeout', 'setInterval', 'setImmediate', 'crypto', 'process', 'performance', 'globalThis'].map(
    // A member of that name is something else; a global reached through globalThis is caught by that word.
    (name): readonly [string, RegExp] => [name, new RegExp(`(?<![.\\w])${name}\\b(?!\\s*[?]?:)`)],
  ),
]

/** Time, chance and the machine come in through the environment, or a simulator cannot replay a seed. */
export function checkPure(path: string, source: string): readonly string[] {
  const { bare } = readCode(source)
  return ACTS.filter(([, pattern]) => pattern.test(bare)).map(([name]) => `${path} is in a pure room and uses ${name}`)
}

const SQL =
  /^\s*(?:select\s|insert\s+(?:or\s+\w+\s+)?into\s|update\s+\S+\s+set\s|delete\s+from\s|create\s+(?:unique\s+)?(?:table|index|trigger)\s|pragma\s)/i

export function checkSql(path: string, source: string): readonly string[] {
  return readCode(source)
    .texts.filter((text) => SQL.test(text))
    .map((text) => `${path} holds SQL outside the backends: ${text.trim().slice(0, 40)}`)
}
