import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteWriter, fromHex, fromUtf8, hex, utf8, utf8Length } from './bytes.ts'
import { compareKeys, compareText, compareValues, decodeCursor, encodeCursor } from './order.ts'
import { milliseconds } from './time.ts'

test('the length of text in UTF-8 is counted without encoding it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(utf8Length(text)).toBe(Buffer.byteLength(text))
    }),
  )
})

test('hex and UTF-8 survive the way there and back', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect([...fromHex(hex(bytes))]).toEqual([...bytes])
    }),
  )
  expect(fromUtf8(utf8('\ufeffä漢😀'))).toBe('\ufeffä漢😀')
  expect(() => fromUtf8(new Uint8Array([0xc3]))).toThrow()
})

test('the writer grows and writes big-endian numbers beyond 32 bits', () => {
  const writer = new ByteWriter()
  writer
    .start(new Uint8Array([1]))
    .u64(2 ** 48 + 5)
    .u32(0xffffffff)
    .u8(7)
    .prefixed('é'.repeat(4000))
  const bytes = Buffer.from(writer.done())
  expect(bytes.readBigUInt64BE(1)).toBe(2n ** 48n + 5n)
  expect(bytes.readUInt32BE(9)).toBe(0xffffffff)
  expect(bytes.readUInt32BE(14)).toBe(8000)
  expect(bytes.subarray(18).toString()).toBe('é'.repeat(4000))
})

test('text is ordered by its UTF-8 bytes, and null comes first', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      fc.pre(a.isWellFormed() && b.isWellFormed())
      expect(Math.sign(compareText(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
    }),
  )
  expect([2, null, 'a', 1].toSorted((a, b) => compareValues(a, b))).toEqual([null, 1, 2, 'a'])
  expect(compareKeys(['a', 1], ['a', 2])).toBeLessThan(0)
})

test('a cursor that was not made here is refused', () => {
  expect(decodeCursor(encodeCursor(['a', 1, null]), 3)).toEqual(['a', 1, null])
  for (const text of ['', '{}', '[1]', '[1,2,{}]', 'nope', '["a\\u0000",1,2]', '["\\ud800",1,2]']) {
    expect(() => decodeCursor(text, 3)).toThrow(expect.objectContaining({ code: 'CURSOR_INVALID' }))
  }
})

test('durations are read with their units', () => {
  expect([
    milliseconds('30s'),
    milliseconds('1.5h'),
    milliseconds(20),
    milliseconds('5ms'),
    milliseconds('3d'),
    milliseconds('2m'),
  ]).toEqual([30_000, 5_400_000, 20, 5, 259_200_000, 120_000])
  for (const bad of ['', '5', '5 s', '-1s', 'forever', -1, Number.NaN] as never[]) {
    expect(() => milliseconds(bad)).toThrow(expect.objectContaining({ code: 'DURATION_INVALID' }))
  }
})
