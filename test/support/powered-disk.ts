// A disk in memory whose power goes at a given call. What was flushed survives it; of what was not, either nothing does or the names do
// without their bytes, which are the two ends of what a file system may leave.

import { posix } from 'node:path'
import type { Disk } from '../../src/backends/sqlite/blob-files.ts'

interface Node {
  readonly folder: boolean
  bytes: Uint8Array
  flushed: Uint8Array
  names: Map<string, Node>
  flushedNames: Map<string, Node>
}

export interface PoweredDiskOptions {
  /** Flushes of which nothing comes, for a control. */
  readonly lazy?: (what: 'file' | 'folder', path: string) => boolean
}

export type Survival = 'what was flushed' | 'names without bytes'

const node = (folder: boolean): Node => ({
  folder,
  bytes: new Uint8Array(0),
  flushed: new Uint8Array(0),
  names: new Map(),
  flushedNames: new Map(),
})

const missing = (path: string): Error => Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' })

export class PoweredDisk {
  readonly #root = node(true)
  readonly #lazy: NonNullable<PoweredDiskOptions['lazy']>

  constructor({ lazy = () => false }: PoweredDiskOptions = {}) {
    this.#lazy = lazy
  }

  /** There from the beginning, and on the disk. */
  add(path: string): void {
    const { above, name } = this.#place(path)
    const added = node(!name.includes('.'))
    for (const names of [above.names, above.flushedNames]) names.set(name, added)
  }

  /** One program's use of the disk: from its call number `dies` on, nothing it asks for happens any more. */
  use(dies = Infinity, calls: string[] = []): Disk {
    const step = (call: string, path: string): void => {
      if (calls.length >= dies) throw Object.assign(new Error('the power is gone'), { code: 'EIO' })
      calls.push(`${call} ${path}`)
    }
    const disk = {
      mkdir: async (path: string) => {
        step('make', path)
        return this.#makeFolders(path)
      },
      open: async (path: string, flags: string) => {
        step('open', path)
        const { above, name } = this.#place(path)
        if (flags === 'wx') above.names.set(name, node(false))
        const file = above.names.get(name)
        if (!file) throw missing(path)
        return {
          writeFile: async (bytes: Uint8Array) => {
            step('write', path)
            file.bytes = Uint8Array.from(bytes)
          },
          sync: async () => {
            step('flush', path)
            if (this.#lazy(file.folder ? 'folder' : 'file', path)) return
            file.flushed = file.bytes
            file.flushedNames = new Map(file.names)
          },
          close: async () => {},
        }
      },
      rename: async (from: string, to: string) => {
        step('rename', to)
        const [source, target] = [this.#place(from), this.#place(to)]
        const file = source.above.names.get(source.name)
        if (!file) throw missing(from)
        source.above.names.delete(source.name)
        target.above.names.set(target.name, file)
      },
      rm: async (path: string) => {
        step('remove', path)
        const { above, name } = this.#place(path)
        above.names.delete(name)
      },
      stat: async (path: string) => {
        const found = this.#find(path)
        return { size: found.bytes.length, mode: 0o644, isFile: () => !found.folder }
      },
      readFile: async (path: string) => Buffer.from(this.#find(path).bytes),
      readdir: async (path: string) => [...this.#find(path).names.keys()],
    }
    return disk as unknown as Disk
  }

  /** Every file by its path, once the power has gone. */
  after(survival: Survival): ReadonlyMap<string, Uint8Array> {
    const files = new Map<string, Uint8Array>()
    const walk = (path: string, { folder, bytes, flushed, names, flushedNames }: Node): void => {
      if (!folder) files.set(path, bytes === flushed ? bytes : bytes.subarray(0, bytes.length >> 1))
      for (const [name, one] of survival === 'what was flushed' ? flushedNames : names) walk(posix.join(path, name), one)
    }
    walk('/', this.#root)
    return files
  }

  #makeFolders(path: string): string | undefined {
    let made: string | undefined
    for (let at = '/', rest = path.split('/').filter(Boolean), above = this.#root; ; ) {
      const name = rest.shift()
      if (name === undefined) return made
      at = posix.join(at, name)
      let next = above.names.get(name)
      if (!next) {
        next = node(true)
        above.names.set(name, next)
        made ??= at
      }
      above = next
      rest = [...rest]
    }
  }

  #find(path: string): Node {
    let at = this.#root
    for (const name of path.split('/').filter(Boolean)) {
      const next = at.names.get(name)
      if (!next) throw missing(path)
      at = next
    }
    return at
  }

  #place(path: string): { readonly above: Node; readonly name: string } {
    return { above: this.#find(posix.dirname(path)), name: posix.basename(path) }
  }
}
