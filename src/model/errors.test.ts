// Messages of errors: what they quote from the caller cannot act on a terminal or forge a line of a log.
import { expect, test } from 'vitest'
import { type ErrorCode, errors, refuse } from './errors.ts'
import { limits } from './limits.ts'

test('an error message escapes the control characters of the values it quotes', () => {
  const name = 'a\u001b[2Jb\r\nERROR forged\u2028c\u202ed\u0000\u009b'
  const error = refuse('RUN_NAME_INVALID', { name, of: 'a run', limit: 200 })
  expect(error.message).toContain("'a\\u001b[2Jb\\r\\nERROR forged\\u2028c\\u202ed\\u0000\\u009b'")
  expect(error.message).not.toMatch(/\p{Cc}/u)
  expect(error.details.name).toBe(name)
})

test('an error message keeps the lines of a difference, and escapes everything else in it', () => {
  const diff = '- effect a\n+ effect b\u001b[31m'
  const { message } = refuse('REPLAY_DIVERGED', { run: 'r\n1', diff })
  expect(message).toContain('\n- effect a\n+ effect b\\u001b[31m\n')
  expect(message).toContain('r\\n1')
})

test('an error message that quotes a whole sentence has one full stop after it', () => {
  const { message } = refuse('RUN_FAILED', { run: 'r', reason: 'The disk is full.' })
  expect(message).toContain('failed: The disk is full. Its recorded steps')
  expect(refuse('PATH_INVALID', { path: '..', reason: 'it is a folder' }).message).toContain('The path .. cannot')
})

test('an error message without control characters quotes values as they are', () => {
  expect(refuse('RUN_NAME_INVALID', { name: 'größe 😀', of: 'a run', limit: 200 }).message).toContain("'größe 😀'")
})

/** The details that a message asks for, whether others are there or not. */
function detailsOf(code: ErrorCode): readonly string[] {
  const asked = new Set<string>()
  for (const answer of ['x', undefined, -1, 1]) {
    const get = (_: object, name: string | symbol) => {
      asked.add(String(name))
      return answer
    }
    const details = new Proxy({}, { get })
    errors[code].say(details)
  }
  // Names of our own options, which no caller chooses.
  asked.delete('known')
  return [...asked]
}

const codes = Object.keys(errors) as ErrorCode[]

test('every error message quotes at most 200 characters of each value', () => {
  const long = 'x'.repeat(5000)
  const values: readonly unknown[] = [long, [long, long], Array(500).fill('xxxxx'), `${long}\n`, '\u{1f600}'.repeat(3000)]
  let quoted = 0
  for (const code of codes) {
    const names = detailsOf(code)
    for (const value of values) {
      // Some messages choose between the values that they have.
      const all = names.map((name) => [name, value] as const)
      for (const given of [all, ...all.map((one) => [one])]) {
        const { message, details } = refuse(code, Object.fromEntries(given))
        const runs = message.match(/(?:x|\u{1f600}|…|\ufffd|, )+/gu) ?? []
        const longest = Math.max(0, ...runs.map((run) => run.replaceAll(', ', '').length))
        if (longest >= 100) quoted++
        expect(longest, `${code}: ${message}`).toBeLessThanOrEqual(limits.quotedChars)
        expect(message.isWellFormed(), code).toBe(true)
        for (const [name] of given) expect(details[name]).toBe(value)
      }
    }
  }
  // The values do reach the messages.
  expect(quoted).toBeGreaterThan(codes.length)
})

test('a long value is quoted by its beginning and its end, and a long list by its first items', () => {
  const { message } = refuse('OPTION_INVALID', { option: `${'a'.repeat(500)}end`, why: 'no' })
  expect(message).toMatch(/"a{133}…a{63}end"/)
  const issues = [{ path: `$.${'b'.repeat(500)}\u001b`, message: 'c'.repeat(500) }]
  const { message: shaped, details } = refuse('SHAPE_INVALID', { of: 'input', issues, found: 1 })
  expect(shaped).toMatch(/: c{133}…c{66} at \$\.b{131}…b{65}\\u001b\. /)
  expect(details.issues).toBe(issues)
  const declared = Array.from({ length: 300 }, (_, i) => `type.${i}`)
  const { message: listed } = refuse('PROCESS_EVENT_UNDECLARED', { name: 'p', type: 'a.b', declared })
  expect(listed).toMatch(/\(declared: type\.0, .*type\.2[0-9], 27[0-9] more\)/)
})

test('a value that is no JSON is refused with what to pass instead', () => {
  const said = (why: string) => refuse('DATA_INVALID', { why, path: '$.a' }).message
  expect(said('undefined')).toBe(
    'The data cannot be stored exactly: found undefined at $.a. Nothing was written. Pass null. Only a member of an object may be undefined, and is left out.',
  )
  expect(said('an instance of Map')).toContain('Pass Object.fromEntries(map).')
  expect(said('an instance of Point')).toContain('such as { ...value }')
  expect(said('a hole in an array')).toContain('Pass plain JSON: ')
})
