// Values: JSON stored by content, each part once.

import type { Feature } from '../feature.ts'
import { type StoreValues, storeValues } from './values.ts'

export const values: Feature<{ readonly values: StoreValues }> = {
  name: 'values',
  store: (scope) => ({ values: storeValues(scope) }),
}
