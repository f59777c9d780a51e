// The corpus: every family of secrets in eight contexts, and the look-alikes, with the thresholds the redactor promises.
import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { redactor } from '../../src/kernel/redact/redactor.ts'
import { blobs } from './blobs.ts'
import { chance } from './chance.ts'
import { CONTEXTS, place } from './contexts.ts'
import { FAMILIES, type Family } from './families.ts'
import { HELD_OUT } from './heldout.ts'
import { INNOCENT } from './innocent.ts'

const SAMPLES = 6
const redact = redactor({}, (secret) => createHmac('sha256', 'corpus').update(secret).digest('hex').slice(0, 8))

interface Score {
  readonly name: string
  found: number
  kept: number
  total: number
  readonly missed: Set<string>
}

/** All texts of a value, also those inside JSON text, so that a secret cannot hide behind a backslash. */
function texts(value: unknown, out: string[] = []): string[] {
  if (typeof value === 'string') {
    out.push(value)
    if (/^\s*[[{"]/.test(value)) {
      try {
        texts(JSON.parse(value), out)
      } catch {
        // not JSON: the text itself is already listed
      }
    }
  } else if (Array.isArray(value)) for (const item of value) texts(item, out)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      out.push(key)
      texts(item, out)
    }
  } else out.push(String(value))
  return out
}

function score(family: Family, salt: number): Score {
  const result: Score = { name: family.name, found: 0, kept: 0, total: 0, missed: new Set() }
  CONTEXTS.forEach((context, n) => {
    for (let sample = 0; sample < SAMPLES; sample++) {
      const made = place(family, context, chance(salt * 7919 + n * 101 + sample))
      const masked = redact.value(made.data)
      const all = [JSON.stringify(masked), ...texts(masked)]
      result.total++
      if (made.needles.every((needle) => all.every((text) => !text.includes(needle)))) result.found++
      else result.missed.add(context)
      if (made.keep.every((piece) => all.some((text) => text.includes(piece)))) result.kept++
      else result.missed.add(`${context} (spoiled)`)
      expect(redact.value(masked), 'masking twice changes nothing').toBe(masked)
    }
  })
  return result
}

function report(title: string, scores: readonly Score[]): { recall: number; kept: number } {
  const sum = (pick: (s: Score) => number) => scores.reduce((all, s) => all + pick(s), 0)
  const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`
  const rows = scores.map(
    (s) =>
      `${s.name.padEnd(26)} recall ${percent(s.found, s.total).padStart(7)}  kept ${percent(s.kept, s.total).padStart(7)}  ${[...s.missed].join(', ')}`,
  )
  const total = sum((s) => s.total)
  console.log(
    [
      `${title}: ${scores.length} families, ${total} cases`,
      ...rows,
      `recall ${percent(
        sum((s) => s.found),
        total,
      )}, surroundings kept ${percent(
        sum((s) => s.kept),
        total,
      )}`,
    ].join('\n'),
  )
  return { recall: sum((s) => s.found) / total, kept: sum((s) => s.kept) / total }
}

describe('the redaction corpus', () => {
  test('at least sixty families are named, ten of them held out', () => {
    expect(new Set([...FAMILIES, ...HELD_OUT].map((family) => family.name)).size).toBe(FAMILIES.length + HELD_OUT.length)
    expect(FAMILIES.length).toBeGreaterThanOrEqual(60)
    expect(HELD_OUT.length).toBe(10)
  })

  test('no rule names a held-out family or its prefix', () => {
    const folder = new URL('../../src/kernel/redact/', import.meta.url)
    const rules = readdirSync(folder).filter((file) => !file.endsWith('.test.ts'))
    const source = rules.map((file) => readFileSync(new URL(file, folder), 'utf8')).join('\n')
    for (const family of HELD_OUT) {
      expect(source.toLowerCase()).not.toContain(family.name)
      expect(source).not.toContain(family.make(chance(1)).slice(0, 4))
    }
  })

  test('known families are found 99.5 times in a hundred, and what surrounds them is kept', () => {
    const { recall, kept } = report(
      'known',
      FAMILIES.map((family, n) => score(family, n + 1)),
    )
    expect(recall).toBeGreaterThanOrEqual(0.995)
    expect(kept).toBeGreaterThanOrEqual(0.98)
  })

  test('families the rules were not written from are found nine times in ten', () => {
    const { recall, kept } = report(
      'held out',
      HELD_OUT.map((family, n) => score(family, n + 1001)),
    )
    expect(recall).toBeGreaterThanOrEqual(0.9)
    expect(kept).toBeGreaterThanOrEqual(0.98)
  })

  test('look-alikes come back untouched 98 times in a hundred', () => {
    let same = 0
    let total = 0
    const rows: string[] = []
    INNOCENT.forEach((innocent, n) => {
      let good = 0
      let all = 0
      const spoiled = new Set<string>()
      for (let sample = 0; sample < SAMPLES; sample++) {
        for (const value of innocent.make(chance(n * 7919 + sample + 5))) {
          for (const data of [value, { output: [value] }, { body: JSON.stringify({ result: value }) }]) {
            all++
            const masked = redact.value(data)
            if (masked === data) good++
            else spoiled.add(JSON.stringify(masked).slice(0, 140))
          }
        }
      }
      rows.push(
        `${innocent.name.padEnd(26)} untouched ${((100 * good) / all).toFixed(1).padStart(5)} % of ${all}  ${[...spoiled].slice(0, 3).join('  ')}`,
      )
      same += good
      total += all
    })
    console.log(['look-alikes', ...rows, `precision ${((100 * same) / total).toFixed(2)} % of ${total}`].join('\n'))
    expect(same / total).toBeGreaterThanOrEqual(0.98)
  })

  test('no byte of 300 random base64 blobs is changed', () => {
    const changed: string[] = []
    for (const { name, data } of blobs(300)) {
      const masked = redact.value(data)
      if (masked !== data) changed.push(`${name}: ${JSON.stringify(masked).match(/.{0,20}\[redacted:[^\]]+\].{0,20}/)?.[0]}`)
    }
    expect(changed).toEqual([])
  })
})
