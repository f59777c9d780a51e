// The programs that the demo starts: a source, or built from it.

import { fileURLToPath } from 'node:url'
import { inPackage } from '../package-root.ts'

export const demoProgram = (name: 'agent' | 'order'): string =>
  fileURLToPath(inPackage(import.meta.url.endsWith('.ts') ? `src/cli/demo/${name}.ts` : `dist/demo/${name}.js`))
