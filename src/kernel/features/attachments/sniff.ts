// Recognises the media type of a file by its first bytes, and reads the size of an image.

export interface Sniffed {
  readonly mediaType: string
  readonly width?: number
  readonly height?: number
}

/** So many bytes are enough for every format here; a JPEG may have its size behind a large thumbnail. */
export const SNIFFED_BYTES = 64 * 1024

const text = (bytes: Uint8Array, at: number, length: number): string => String.fromCharCode(...bytes.subarray(at, at + length))

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const startsWith = (bytes: Uint8Array, ...magic: readonly number[]): boolean => magic.every((byte, i) => bytes[i] === byte)

/** Undefined for bytes without a known signature, such as plain text. */
export function sniff(bytes: Uint8Array): Sniffed | undefined {
  if (startsWith(bytes, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return { mediaType: 'image/png', ...pngSize(bytes) }
  if (startsWith(bytes, 0xff, 0xd8, 0xff)) return { mediaType: 'image/jpeg', ...jpegSize(bytes) }
  const head = text(bytes, 0, 12)
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return { mediaType: 'image/gif', ...littleSize(bytes, 6) }
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return { mediaType: 'image/webp', ...webpSize(bytes) }
  if (head.startsWith('RIFF') && head.endsWith('WAVE')) return { mediaType: 'audio/wav' }
  if (head.startsWith('%PDF-')) return { mediaType: 'application/pdf' }
  if (head.startsWith('OggS')) return { mediaType: 'audio/ogg' }
  if (head.startsWith('ID3')) return { mediaType: 'audio/mpeg' }
  if (head.slice(4, 8) === 'ftyp') return { mediaType: 'video/mp4' }
  if (startsWith(bytes, 0x1f, 0x8b)) return { mediaType: 'application/gzip' }
  // An archive with files, one without any, and the first of several parts.
  if ([3, 5, 7].some((mark) => startsWith(bytes, 0x50, 0x4b, mark, mark + 1))) return { mediaType: 'application/zip' }
  // Readers of PDF accept other bytes before its mark.
  return text(bytes, 0, 1024).includes('%PDF-') ? { mediaType: 'application/pdf' } : undefined
}

// Other types are stored in these containers, so their signature does not contradict another type.
const CONTAINERS: readonly string[] = ['application/zip', 'application/gzip', 'video/mp4', 'audio/ogg']
const SAME: Readonly<Record<string, string>> = { 'image/jpg': 'image/jpeg', 'audio/x-wav': 'audio/wav', 'audio/wave': 'audio/wav' }

/** Whether bytes of the recognised type may be declared as the other one. */
export function fits(recognised: string, declared: string): boolean {
  const named = SAME[declared] ?? declared
  if (recognised === named || named === 'application/octet-stream') return true
  return CONTAINERS.includes(recognised) && !SIGNED.has(named)
}

const SIGNED: ReadonlySet<string> = new Set([
  ...['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'audio/wav', 'audio/mpeg', 'application/pdf'],
  ...['application/zip', 'application/gzip'],
])

/** Files of these types always begin with their signature. Some MP3 files have none. */
export const isSigned = (declared: string): boolean => declared !== 'audio/mpeg' && SIGNED.has(SAME[declared] ?? declared)

const size = (width: number, height: number) => (width > 0 && height > 0 ? { width, height } : {})

const pngSize = (bytes: Uint8Array) =>
  bytes.length >= 24 && text(bytes, 12, 4) === 'IHDR' ? size(view(bytes).getUint32(16), view(bytes).getUint32(20)) : {}

const littleSize = (bytes: Uint8Array, at: number) =>
  bytes.length >= at + 4 ? size(view(bytes).getUint16(at, true), view(bytes).getUint16(at + 2, true)) : {}

/** Walks the segments to the one that begins a frame. */
function jpegSize(bytes: Uint8Array) {
  const data = view(bytes)
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) return {}
    const marker = bytes[at + 1] as number
    if (marker === 0xff) {
      at++
      continue
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return size(data.getUint16(at + 7), data.getUint16(at + 5))
    at += 2 + data.getUint16(at + 2)
  }
  return {}
}

function webpSize(bytes: Uint8Array) {
  if (bytes.length < 30) return {}
  const data = view(bytes)
  const kind = text(bytes, 12, 4)
  if (kind === 'VP8 ') return size(data.getUint16(26, true) & 0x3fff, data.getUint16(28, true) & 0x3fff)
  if (kind === 'VP8X') return size(1 + (data.getUint32(24, true) & 0xffffff), 1 + (data.getUint32(26, true) >>> 8))
  if (kind !== 'VP8L') return {}
  const packed = data.getUint32(21, true)
  return size(1 + (packed & 0x3fff), 1 + ((packed >>> 14) & 0x3fff))
}
