// The page of guarantees against the tests it names: every promise has one, and each of them is there under that name.

import { posix } from 'node:path'

export type ReadFile = (path: string) => string | undefined

/** `read` is given a path from the top of the project. */
export function checkGuarantees(path: string, page: string, read: ReadFile): readonly string[] {
  return promisesOf(page).flatMap(({ promise, shownBy }) => {
    const links = [...shownBy.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, name = '', target = '']) => ({ name, target }))
    if (links.length === 0) return [`nothing shows that ${promise}`]
    return links.flatMap(({ name, target }) => {
      const file = posix.join(posix.dirname(path), target)
      const source = read(file)
      if (source === undefined) return [`${promise}: there is no ${file}`]
      return holdsText(source, name) ? [] : [`${promise}: ${file} has no test '${name}'`]
    })
  })
}

const holdsText = (source: string, name: string): boolean => ["'", '"', '`'].some((quote) => source.includes(`${quote}${name}${quote}`))

interface Promised {
  readonly promise: string
  readonly shownBy: string
}

/** The rows of every table whose last column says what shows it. */
export function promisesOf(page: string): readonly Promised[] {
  const promises: Promised[] = []
  let within = false
  for (const line of page.split('\n')) {
    if (!line.startsWith('|')) {
      within = false
      continue
    }
    const cells = line.split('|').slice(1, -1)
    const last = cells.at(-1)?.trim() ?? ''
    if (last === 'shown by') within = true
    else if (within && !/^-+$/.test(last)) promises.push({ promise: cells[0]?.trim() ?? '', shownBy: last })
  }
  return promises
}
