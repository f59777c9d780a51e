// Nodes of values in a map by their ref. Bodies are copied in and out, so that callers cannot change the stored ones.

import { hex } from '../../model/bytes.ts'
import type { Values } from '../../ports/values.ts'
import { activeTenant, type MemoryState } from './state.ts'

export const values = (state: MemoryState): Values => ({
  get: async (id, refs) => {
    const { nodes } = activeTenant(state, id)
    return refs.map((ref) => {
      const body = nodes.get(hex(ref))
      return body && new Uint8Array(body)
    })
  },
})
