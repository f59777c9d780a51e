// A deterministic embedding without a model: hashed words and letter trigrams. Texts that share words are near each other; meaning is unknown to it.
// It serves tests, air-gapped stores and the search for near-duplicates.

export const HASH_DIMENSIONS = 64
export const HASH_ID = 'hash-embedding-v1'

const WORDS = /[\p{L}\p{N}]+/gu
const TRIGRAM_WEIGHT = 0.25

export function hashEmbedding(text: string): Float32Array {
  const sums = new Float64Array(HASH_DIMENSIONS)
  const folded = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  const words = folded.match(WORDS) ?? []
  for (const word of words) {
    add(sums, word, 1)
    const padded = [...`^${word}$`]
    for (let i = 0; i + 3 <= padded.length; i++) add(sums, padded.slice(i, i + 3).join(''), TRIGRAM_WEIGHT)
  }
  let length = Math.sqrt(sums.reduce((sum, value) => sum + value * value, 0))
  // A text without words still gets a direction, and so do words that cancel out.
  if (length === 0) {
    add(sums, `\n${text}`, 1)
    length = Math.sqrt(sums.reduce((sum, value) => sum + value * value, 0)) || 1
  }
  return Float32Array.from(sums, (value) => value / length)
}

function add(sums: Float64Array, feature: string, weight: number): void {
  const hash = fnv1a(feature)
  const at = hash % HASH_DIMENSIONS
  sums[at] = (sums[at] as number) + ((hash >>> 16) & 1 ? weight : -weight)
}

/** FNV-1a over UTF-16 units, with a final mix so that all bits depend on all units. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i)
    hash = Math.imul(hash, 0x01000193)
  }
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}
