// SHA-256 of a few blocks, without a call out of the language: the redactor hashes thousands of short texts, one at a time.

export const BLOCK = 64
/** The longest input, in bytes. */
const LONGEST = 4 * BLOCK - 9

export function sha256(input: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(4 * BLOCK)
  bytes.set(input.subarray(0, LONGEST))
  const end = pad(bytes, input.length, 0)
  const state = INITIAL.slice()
  for (let at = 0; at < end; at += BLOCK) compress(state, bytes, at)
  spell(state, bytes)
  return bytes.subarray(0, 32)
}

/** Writes the eight words of the state as 32 bytes, high byte first. */
export function spell(state: Int32Array, bytes: Uint8Array): void {
  for (let n = 0; n < 8; n++) {
    const word = state[n] as number
    bytes[4 * n] = word >>> 24
    bytes[4 * n + 1] = word >>> 16
    bytes[4 * n + 2] = word >>> 8
    bytes[4 * n + 3] = word
  }
}

/** Writes the closing bit and the length in bits, with `before` bytes hashed already. Returns where the last block ends. */
export function pad(bytes: Uint8Array, size: number, before: number): number {
  const end = (Math.floor((size + 8) / BLOCK) + 1) * BLOCK
  const bits = (before + size) * 8
  bytes.fill(0, size, end)
  bytes[size] = 0x80
  bytes[end - 2] = bits >>> 8
  bytes[end - 1] = bits
  return end
}

/** The fractional parts of the cube roots of the first 64 primes, and of the square roots of the first eight. */
const PRIMES = primes(64)
const ROUNDS = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)))
export const INITIAL = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)))
const SCHEDULE = new Int32Array(BLOCK)

function primes(count: number): number[] {
  const found: number[] = []
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n)
  return found
}

function fraction(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) | 0
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

/** One block of SHA-256 (FIPS 180-4, 6.2.2), with the letters of the standard. */
export function compress(state: Int32Array, bytes: Uint8Array, from: number): Int32Array {
  for (let n = 0, at = from; n < 16; n++, at += 4) {
    const high = ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16)
    SCHEDULE[n] = high | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)
  }
  for (let n = 16; n < BLOCK; n++) {
    const x = SCHEDULE[n - 15] as number
    const y = SCHEDULE[n - 2] as number
    const low = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3)
    const high = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10)
    SCHEDULE[n] = ((SCHEDULE[n - 16] as number) + low + (SCHEDULE[n - 7] as number) + high) | 0
  }
  let a = state[0] as number
  let b = state[1] as number
  let c = state[2] as number
  let d = state[3] as number
  let e = state[4] as number
  let f = state[5] as number
  let g = state[6] as number
  let h = state[7] as number
  for (let n = 0; n < BLOCK; n++) {
    const mixed = (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g))
    const first = (h + mixed + (ROUNDS[n] as number) + (SCHEDULE[n] as number)) | 0
    const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  add(state, 0, a)
  add(state, 1, b)
  add(state, 2, c)
  add(state, 3, d)
  add(state, 4, e)
  add(state, 5, f)
  add(state, 6, g)
  add(state, 7, h)
  return state
}

function add(state: Int32Array, n: number, by: number): void {
  state[n] = ((state[n] as number) + by) | 0
}
