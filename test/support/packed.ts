// The files that belong into the package, and those that its declarations lead to.

import { posix } from 'node:path'
import { importsOf } from './code.ts'

const ALLOWED: readonly RegExp[] = [
  /^package\.json$/,
  /^(?:README|CHANGELOG|SECURITY|AGENTS)\.md$/,
  /^LICENSE$/,
  /^llms\.txt$/,
  /^bin\/[\w-]+\.js$/,
  /^dist\/(?:chunks\/|demo\/)?[\w-]+\.js(?:\.map)?$/,
  /^dist\/types\/(?!.*\.test\.)[\w/.-]+\.d\.ts$/,
  /^docs\/(?:README|glossary)\.md$/,
  /^docs\/guide\/[\w-]+\.md$/,
  /^docs\/reference\/[\w-]+\.(?:md|txt|ndjson)$/,
]

const NEEDED: readonly RegExp[] = [
  /^LICENSE$/,
  /^README\.md$/,
  /^AGENTS\.md$/,
  /^llms\.txt$/,
  /^bin\/inkfast\.js$/,
  /^dist\/index\.js$/,
  /^dist\/conformance\.js\.map$/,
  /^dist\/types\/index\.d\.ts$/,
  /^dist\/cli\.js$/,
  /^dist\/conformance\.js$/,
  /^docs\/guide\/getting-started\.md$/,
  /^docs\/reference\/errors\.md$/,
]

export function checkPackedFiles(files: readonly string[]): readonly string[] {
  return [
    ...files.filter((file) => !ALLOWED.some((pattern) => pattern.test(file))).map((file) => `${file} does not belong into the package`),
    ...NEEDED.filter((pattern) => !files.some((file) => pattern.test(file))).map(
      (pattern) => `${pattern.source.replace(/[\\^$]/g, '').replaceAll('\\/', '/')} is not in the package`,
    ),
  ]
}

/** Every declaration file that a reader of this one reads too. */
export function declarationsReachedFrom(entry: string, read: (path: string) => string): readonly string[] {
  const reached = new Set<string>()
  const visit = (path: string): void => {
    if (reached.has(path)) return
    reached.add(path)
    for (const specifier of importsOf(read(path))) {
      if (specifier.startsWith('.')) visit(posix.join(posix.dirname(path), specifier).replace(/(?:\.d)?\.[jt]s$/, '.d.ts'))
    }
  }
  visit(entry)
  return [...reached].sort()
}
