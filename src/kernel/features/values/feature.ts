// Values: JSON stored by content, each part once. Garbage collection removes what nothing refers to.

import type { BlobRef } from '../../../model/blob.ts'
import type { PinRow } from '../../../model/pin.ts'
import type { Feature } from '../../feature.ts'
import { type CollectOptions, type CollectReport, collect } from './collect.ts'
import { collectIfDue } from './collect-after.ts'
import { pin } from './pin-decider.ts'
import { pinContent, unpinContent } from './pins.ts'
import { type StoreValues, storeValues } from './values.ts'

export interface ValueMembers {
  /** JSON values, stored by their content. */
  readonly values: StoreValues
  /** Keeps a value or a blob, whether or not anything refers to it. */
  pin(content: string | BlobRef): Promise<void>
  unpin(content: string | BlobRef): Promise<void>
  /** Deletes values and blobs that nothing refers to: no event, no row, no pin, and no put or commit within `grace`. */
  collect(options?: CollectOptions): Promise<CollectReport>
}

export const values: Feature<ValueMembers> = {
  name: 'values',
  deciders: [pin],
  onMaintain: (scope) => collectIfDue(scope),
  refs: { pins: (row: PinRow) => [row.ref] },
  onForked: 'pins belong to the tenant',
  store: (scope) => ({
    values: storeValues(scope),
    pin: (content) => pinContent(scope, content),
    unpin: (content) => unpinContent(scope, content),
    collect: (options) => collect(scope, options),
  }),
}
