import { randomBytes } from 'node:crypto'
import { decodeTime, isValid } from 'ulid'
import { expect, test } from 'vitest'
import { idBytes, idMaker, isId, readId, tenantId, toId } from './ids.ts'

const maker = (now: () => number) => idMaker(now, (count) => randomBytes(count))

test('an id is a ULID that another implementation reads', () => {
  const id = maker(() => 1_794_739_355_832)()
  expect(isValid(id)).toBe(true)
  expect(decodeTime(id)).toBe(1_794_739_355_832)
})

test('ids grow within a millisecond and when the clock steps back', () => {
  let time = 1000
  const next = maker(() => time)
  const ids = [next(), next()]
  time = 1001
  ids.push(next())
  time = 5
  ids.push(next(), next())
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(5)
})

test('ids keep growing when their random part is used up', () => {
  const next = idMaker(
    () => 7,
    (count) => new Uint8Array(count).fill(255),
  )
  const first = next()
  expect(idBytes(first)[6]).toBe(0x7f)
  let last = first
  for (let i = 0; i < 300; i++) {
    const id = next()
    expect(id > last).toBe(true)
    last = id
  }
})

test('an id survives the way through its bytes', () => {
  for (let i = 0; i < 200; i++) {
    const bytes = new Uint8Array(randomBytes(16))
    expect(idBytes(readId(bytes))).toEqual(bytes)
  }
})

test('text that is not an id or a tenant is refused', () => {
  for (const text of ['', '8ZZZZZZZZZZZZZZZZZZZZZZZZZ', '0123456789ABCDEFGHJKMNPQRI', 'x'.repeat(26), 7, null]) {
    expect(isId(text)).toBe(false)
    expect(() => toId(text)).toThrow(expect.objectContaining({ code: 'ID_INVALID' }))
  }
  for (const text of ['', '-a', 'a/b', 'a b', 'ä', 'x'.repeat(65)]) {
    expect(() => tenantId(text)).toThrow(expect.objectContaining({ code: 'TENANT_INVALID' }))
  }
  expect(tenantId('acme-1.eu_west')).toBe('acme-1.eu_west')
})
