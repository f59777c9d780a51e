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

test.each(['\n', '\r\n', '\\n'])(
  'a list of keys with the width and the signs of wrapped base64 is masked with %j between them',
  (lineEnd) => {
    const keys = Array.from({ length: 6 }, (_, n) => `nv${'api-'}aB3dE5gH7jK9mN1pQ3sT5-W7yZ9bC1dE3gH5jK7mN9pQ1sT3vW5yZ7bC9dE1gH3_${n}`)
    const masked = redact.text(keys.join(lineEnd))
    for (const key of keys) expect(masked).not.toContain(key)
  },
)
