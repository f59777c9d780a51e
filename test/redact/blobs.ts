// Random base64, as images and files in a payload are: both alphabets, in one piece, wrapped, and inside JSON text.

/** Seeded bytes, four at a time: `chance` is too slow for megabytes. */
function randomBytes(seed: number, size: number): Buffer {
  const bytes = Buffer.alloc(size)
  let state = seed >>> 0
  for (let at = 0; at + 4 <= size; at += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x85ebca6b)
    mixed ^= mixed >>> 13
    mixed = Math.imul(mixed, 0xc2b2ae35)
    bytes.writeInt32LE(mixed ^ (mixed >>> 16), at)
  }
  return bytes
}

export function blobs(count: number): { readonly name: string; readonly data: unknown }[] {
  return Array.from({ length: count }, (_, n) => {
    const bytes = randomBytes(7919 * n + 1, 150_000)
    const text = bytes.toString(n % 2 === 0 ? 'base64' : 'base64url')
    switch (n % 6) {
      case 0:
        return { name: 'image', data: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: text } } }
      case 2:
        return { name: 'data URL', data: { url: `data:image/jpeg;base64,${text}` } }
      case 4:
        return { name: 'wrapped', data: text.replace(/.{76}/g, '$&\n') }
      case 5:
        return { name: 'JSON text', data: JSON.stringify({ content: [{ blob: text }] }) }
      case 1:
        return { name: 'URL-safe, wrapped', data: text.replace(n % 4 === 1 ? /.{76}/g : /.{64}/g, '$&\n') }
      default:
        return { name: 'URL-safe', data: text }
    }
  })
}
