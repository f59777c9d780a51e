// The file name of an attachment: the last part of a path, without characters that a file system or a terminal would misread.

import { utf8Length } from '../../../model/bytes.ts'
import { refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { quoted } from '../../../model/options.ts'

const SHOWN_CHARS = 80

/** Refuses a name that tries to leave its folder; other unusual characters become `_`. */
export function takeFileName(given: unknown): string {
  const wrong = (why: string) => refuse('FILE_NAME_INVALID', { name: quoted(given).slice(0, SHOWN_CHARS).replaceAll('\0', '\\0'), why })
  if (typeof given !== 'string' || given === '') throw wrong('it is not a text')
  if (given.includes('\0')) throw wrong('it contains NUL')
  const parts = given.split(/[/\\]/u)
  if (parts.includes('..')) throw wrong("it contains '..'")
  const last = (parts.at(-1) ?? '')
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}<>:"|?*]/gu, '_')
    .trim()
  if (last === '' || last === '.') throw wrong('it names no file')
  return cut(last)
}

/** Keeps the extension of a name that is too long. */
function cut(name: string): string {
  if (utf8Length(name) <= limits.fileNameBytes) return name
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && name.length - dot <= 16 ? name.slice(dot) : ''
  let [room, end] = [limits.fileNameBytes - utf8Length(extension), 0]
  for (const character of name.slice(0, name.length - extension.length)) {
    room -= utf8Length(character)
    if (room < 0) break
    end += character.length
  }
  return name.slice(0, end) + extension
}
