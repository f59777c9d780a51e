// Messages of errors: what they quote from the caller cannot act on a terminal or forge a line of a log.
import { expect, test } from 'vitest'
import { refuse } from './errors.ts'

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
