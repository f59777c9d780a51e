// Kinds of blobs with their hints, and the sizes from which each profile compresses.

import { expect, test } from 'vitest'
import { type BlobKind, type BlobProfile, describeBlob } from './blob-storage.ts'

test('the kind of a blob gives its hints, and the profile says from which size it is compressed', () => {
  const from = (kind: BlobKind, profile?: BlobProfile) =>
    [0, 1023, 1024, 4095, 4096, 1e6].find((bytes) => describeBlob({ kind, ...(profile && { profile }) }).storage(bytes).compress)
  const compressible = ['checkpoint-manifest', 'process-environment', 'tool-state', 'plugin-snapshot', 'execution-state', 'module'] as const
  for (const kind of compressible) {
    expect([kind, from(kind), from(kind, 'compact'), from(kind, 'low-latency')]).toEqual([kind, 4096, 1024, undefined])
    const isLarge = !['checkpoint-manifest', 'process-environment'].includes(kind)
    const inline = describeBlob({ kind, hints: ['inline-preferred', ...(isLarge ? ['large-payload'] : [])] })
    expect([kind, inline.storage(100)]).toEqual([kind, { compress: false, inline: !isLarge }])
  }
  expect([from('generic'), from('generic', 'compact')]).toEqual([undefined, undefined])
  expect(describeBlob({ kind: 'generic', hints: ['compressible'] }).storage(4096)).toEqual({ compress: true, inline: false })
})
