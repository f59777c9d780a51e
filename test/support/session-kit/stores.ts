// Engines on which several stores can be opened, like those of several processes.

import type { Store } from '../../../src/index.ts'
import { shared } from '../../runs/in-memory.ts'
import { lentDatabase, openIn, tempFile } from '../engines.ts'
import { QUICK } from '../rounds.ts'

type Open = () => Promise<Store>

const everyEngine: readonly { readonly name: string; readonly make: () => Promise<Open> }[] = [
  {
    name: 'memory',
    make: async () => {
      const another = shared()
      return () => another()
    },
  },
  {
    name: 'sqlite',
    make: async () => {
      const path = tempFile()
      return () => openIn(path)
    },
  },
  {
    name: 'postgres',
    make: async () => {
      const url = await lentDatabase()
      return () => openIn(url)
    },
  },
]

export const engines = everyEngine.filter(({ name }) => !QUICK || name !== 'postgres')
