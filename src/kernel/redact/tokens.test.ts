// The ref of a value is a random word, and kept.
import { expect, test } from 'vitest'
import { redactor } from './redactor.ts'

const redact = redactor({}, () => 'ab12cd34')

test.each([
  ['an unknown vendor', 'AB_H3o49urkv5DIEbquLtvMvg92HAdL9-2fN15bZyP0'],
  ['a known vendor', `hf${'_'}aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3g-_2fN0`],
])('the ref of a value is kept, even if it looks like the token of %s', (_, word) => {
  const data = { state: `value:${word}`, text: `state=value:${word}, saved` }
  expect(redact.value(data)).toBe(data)
  expect(redact.text(`value:${word}Zz`)).not.toContain(word)
})
