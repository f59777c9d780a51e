// Damage to closing, opening again and sharing.

import { freshMemory, handleTo } from '../../../src/conformance/shared-memory.ts'
import { type Sabotage, spoiled } from './spoil.ts'

const closed = 'a closed backend writes nothing'
const kept = 'what was acknowledged is there after opening again'
const shared = 'several handles are one store'

export const lifeSabotages: readonly Sabotage[] = [
  spoiled('writes after it was closed', [closed], (backend) => ({ ...backend, close: async () => {} })),
  {
    name: 'forgets everything when it is closed',
    breaks: [kept],
    open: (open) => async (options) => ({ ...(await open(options)), reopen: async () => handleTo(freshMemory(options?.now)) }),
  },
  {
    name: 'keeps a store for every handle',
    breaks: [shared, 'commits through another handle are noticed'],
    open: (open) => async (options) => ({ ...(await open(options)), second: async () => handleTo(freshMemory(options?.now)) }),
  },
]
