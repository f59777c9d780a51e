// How a blob is stored: its kind gives hints, the caller may give others, and a profile says from which size compression pays.

import { limits } from '../../model/limits.ts'
import { checkKnown, invalidOption, listOf, optionsOf } from '../../model/options.ts'
import type { BlobStorage } from '../../ports/blobs.ts'

/** Kinds with hints of their own. A caller may use other words for other kinds. */
export type BlobKind =
  | 'generic'
  | 'checkpoint-manifest'
  | 'tool-state'
  | 'plugin-snapshot'
  | 'execution-state'
  | 'module'
  | 'process-environment'

/** `compressible`: worth compressing. `inline-preferred`: keep it in the database if it is small. `large-payload`: never in the database row. */
export type BlobHint = 'compressible' | 'inline-preferred' | 'large-payload'

/** `low-latency` never compresses, `balanced` from 4 KiB on, `compact` from 1 KiB on; only with the hint `compressible`. */
export type BlobProfile = 'low-latency' | 'balanced' | 'compact'

type Word<Known extends string> = Known | (string & {})

export interface BlobOptions {
  /** The kind of bytes, such as `tool-state`. A known kind brings its hints. */
  readonly kind?: Word<BlobKind>
  /** Hints for storing them, such as `compressible`, instead of those of the kind. */
  readonly hints?: readonly Word<BlobHint>[]
  /** When to compress. The default is `balanced`. */
  readonly profile?: BlobProfile
}

export interface PutBlobOptions extends BlobOptions {
  /** Abandons the stream; nothing is stored then. */
  readonly signal?: AbortSignal
}

/** The caller's description of a blob: the words that its reference repeats, and how to store it once its size is known. */
export interface BlobDescription {
  readonly words: { readonly kind?: string; readonly hints?: readonly string[] }
  /** `bytes` is the size, or less if more bytes may follow. */
  storage(bytes: number): BlobStorage
}

const PRESETS: Readonly<Record<BlobKind, readonly BlobHint[]>> = {
  generic: [],
  'checkpoint-manifest': ['compressible'],
  'process-environment': ['compressible'],
  'tool-state': ['compressible', 'large-payload'],
  'plugin-snapshot': ['compressible', 'large-payload'],
  'execution-state': ['compressible', 'large-payload'],
  module: ['compressible', 'large-payload'],
}

const COMPRESSED_FROM: Readonly<Record<BlobProfile, number>> = {
  'low-latency': Infinity,
  balanced: limits.blobCompressBytes,
  compact: limits.blobCompressCompactBytes,
}

export function describeBlob(options: BlobOptions | undefined): BlobDescription {
  const { kind, hints, profile = 'balanced', ...unknown } = optionsOf(options, 'blobs.put')
  checkKnown(unknown, 'a blob')
  if (kind !== undefined) checkWord(kind, 'kind')
  const given = listOf(hints, 'hints')
  const words = [...(given ?? [])]
  if (words.length > limits.blobHints) throw invalidOption('hints', `at most ${limits.blobHints} hints`, words.length)
  for (const word of words) checkWord(word, 'hints')
  if (typeof profile !== 'string' || !Object.hasOwn(COMPRESSED_FROM, profile))
    throw invalidOption('profile', Object.keys(COMPRESSED_FROM).join(', '), profile)
  const told: readonly string[] = given ?? (kind !== undefined && Object.hasOwn(PRESETS, kind) ? PRESETS[kind as BlobKind] : [])
  return {
    words: { ...(kind !== undefined && { kind }), ...(words.length > 0 && { hints: words }) },
    storage: (bytes) => ({
      compress: told.includes('compressible') && bytes >= COMPRESSED_FROM[profile],
      inline: told.includes('inline-preferred') && !told.includes('large-payload') && bytes <= limits.blobInlineBytes,
    }),
  }
}

/** Checks a word. Words are part of every reference, in events and rows, and are compared. */
function checkWord(word: unknown, option: string): void {
  if (typeof word === 'string' && WORD.test(word) && word.length <= limits.blobWordChars) return
  throw invalidOption(option, `1 to ${limits.blobWordChars} letters, digits, '.', '_', '-' or '/'`)
}

const WORD = /^[A-Za-z0-9][A-Za-z0-9._/-]*$/
