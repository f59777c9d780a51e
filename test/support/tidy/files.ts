// Rules for every file of ours: length, marks, paths, addresses, versions.

/** Marks that say work was left lying about. Put together here so that this file does not hold them itself. */
const MARKS = new RegExp(`\\b(?:${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'HA' + 'CK'].join('|')})\\b`)
const MACHINE = /(?<![\w.])\/(?:work|home|Users|root)\/[\w.-]+|[A-Z]:\\Users\\/

export function checkWords(path: string, text: string): readonly string[] {
  return text.split('\n').flatMap((line, i) => {
    const mark = MARKS.exec(line)?.[0]
    const place = MACHINE.exec(line)?.[0]
    return [
      ...(mark ? [`${path}:${i + 1} holds the mark ${mark}`] : []),
      ...(place ? [`${path}:${i + 1} holds a path of one machine: ${place}`] : []),
    ]
  })
}

export const LONG = 300
export const linesOf = (text: string): number => text.split('\n').length - (text.endsWith('\n') ? 1 : 0)

export interface Measured {
  readonly path: string
  readonly lines: number
}

/** Long files are allowed where a reason is given, and the list holds no file that became short. */
export function checkLengths(files: readonly Measured[], reasons: Readonly<Record<string, string>>): readonly string[] {
  const long = files.filter(({ lines }) => lines > LONG)
  return [
    ...long.filter(({ path }) => !reasons[path]).map(({ path, lines }) => `${path} has ${lines} lines and no reason on the list`),
    ...Object.keys(reasons)
      .filter((path) => !long.some((file) => file.path === path))
      .map((path) => `${path} is on the list of long files and is not long`),
  ]
}

interface Lock {
  readonly version?: string
  readonly packages?: Readonly<Record<string, { readonly version?: string; readonly resolved?: string }>>
}

/** A lock file that names a host only installs where that host can be reached. */
export function checkLock(lock: Lock): readonly string[] {
  return Object.entries(lock.packages ?? {})
    .filter(([, entry]) => entry.resolved !== undefined)
    .map(([name]) => `the lock file says where ${name || 'the project'} was fetched from`)
}

export const newestVersion = (changelog: string): string | undefined => /^## \[?(\d+\.\d+\.\d+[^\s\]]*)/m.exec(changelog)?.[1]

export function checkVersions(manifest: string, lock: Lock, changelog: string): readonly string[] {
  const newest = newestVersion(changelog)
  return [
    ...(newest === manifest ? [] : [`package.json says ${manifest}, the newest heading of CHANGELOG.md says ${newest ?? 'nothing'}`]),
    ...[lock.version, lock.packages?.['']?.version]
      .filter((version) => version !== manifest)
      .map((version) => `package.json says ${manifest}, the lock file says ${version}`),
  ]
}

/** Links to files of the project lead somewhere. */
export function checkLinks(path: string, page: string, exists: (target: string) => boolean): readonly string[] {
  return [...page.replace(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => {
    const target = (link as string).split('#')[0] as string
    if (target === '' || /^[a-z]+:/.test(target)) return []
    return exists(target) ? [] : [`${path} links to ${target}, which is not there`]
  })
}
