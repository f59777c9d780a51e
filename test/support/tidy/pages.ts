// Reference pages against the code they describe, in both directions.

import { headingsOf, tableOf } from '../markdown.ts'

/** Told when two lists of names do not hold the same ones. */
export function compareNames(what: string, inCode: readonly string[], onPage: readonly string[]): readonly string[] {
  return [
    ...inCode.filter((name) => !onPage.includes(name)).map((name) => `${what} ${name} is not on its page`),
    ...onPage.filter((name) => !inCode.includes(name)).map((name) => `the page describes ${what} ${name}, which does not exist`),
    ...onPage.filter((name, i) => onPage.indexOf(name) !== i).map((name) => `the page describes ${what} ${name} twice`),
  ]
}

/** docs/reference/errors.md: a heading per code, its kind in the first line below. */
export function checkErrorPage(page: string, errors: Readonly<Record<string, { readonly kind: string }>>): readonly string[] {
  const described = headingsOf(page).filter(({ text }) => /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/.test(text))
  const wrong = described.flatMap(({ text, body }) => {
    const kind = /^Kind: `(\w+)`/m.exec(body)?.[1]
    const right = errors[text]?.kind
    const words = body.replace(/^Kind:.*$/m, '').trim()
    return [
      ...(right !== undefined && kind !== right ? [`${text} is of kind ${right}, the page says ${kind ?? 'nothing'}`] : []),
      ...(words.length < 40 ? [`the page says too little about ${text}`] : []),
    ]
  })
  return [
    ...compareNames(
      'error',
      Object.keys(errors),
      described.map(({ text }) => text),
    ),
    ...wrong,
  ]
}

/** docs/reference/limits.md: a row per limit, its value in plain digits. */
export function checkLimitPage(page: string, limits: Readonly<Record<string, number>>): readonly string[] {
  const rows = tableOf(page, 'limit', 'value')
  const wrong = rows.flatMap(({ limit, value }) => {
    const right = limits[limit as string]
    const said = Number((value as string).split(' ')[0]?.replaceAll(',', ''))
    return right === undefined || right === said ? [] : [`${limit} is ${right}, the page says ${value}`]
  })
  return [
    ...compareNames(
      'limit',
      Object.keys(limits),
      rows.map((row) => row.limit as string),
    ),
    ...wrong,
  ]
}

interface Entry {
  readonly type: string
  readonly means: string
  readonly data: string
}

/** docs/reference/events.md: the catalogue of standard types, word for word. */
export function checkEventPage(page: string, catalogue: readonly Entry[]): readonly string[] {
  const rows = tableOf(page, 'type', 'means', 'data')
  const wrong = catalogue.flatMap((entry) => {
    const row = rows.find(({ type }) => type === entry.type)
    return row && (row.means !== entry.means || row.data !== entry.data) ? [`the page describes ${entry.type} in other words`] : []
  })
  return [
    ...compareNames(
      'event type',
      catalogue.map(({ type }) => type),
      rows.map((row) => row.type as string),
    ),
    ...wrong,
  ]
}

/** The reserved types, by the headings' table of the same page. */
/** Compares the nouns of a line such as `Reserved nouns: …` with the code. */
export function checkNouns(page: string, line: string, nouns: readonly string[]): readonly string[] {
  const listed = new RegExp(`^${line}: (.*)\\.$`, 'm').exec(page)?.[1] ?? ''
  return compareNames(
    'noun',
    nouns,
    [...listed.matchAll(/`([^`]+)`/g)].map(([, noun]) => noun as string),
  )
}

export function checkReservedTypes(page: string, reserved: readonly string[]): readonly string[] {
  const rows = tableOf(page, 'reserved type', 'written when')
  return compareNames(
    'reserved type',
    reserved,
    rows.map((row) => row['reserved type'] as string),
  )
}
