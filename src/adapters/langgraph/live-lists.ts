// Live lists of one thread: the elements of a channel that the graph holds, with watches. A save serializes only new elements, and a read
// hands out the elements again if nobody has changed them.

import type { ValuePart } from '../../index.ts'
import type { Codec } from './codec.ts'
import type { CheckpointStore } from './saver.ts'
import { isSame, type Watch, watch } from './watch.ts'

interface Live {
  /** The stored list. */
  readonly part: ValuePart
  readonly elements: readonly unknown[]
  /** Null for an element that cannot change; undefined for one that cannot be watched. */
  readonly watches: readonly (Watch | null | undefined)[]
}

export class LiveLists {
  readonly #store: CheckpointStore
  readonly #codec: Codec
  readonly #byChannel = new Map<string, Live>()
  /** Says whether an element is unchanged. A test replaces it to show that identity alone is not enough. */
  readonly #isSame: (watch: Watch) => boolean

  constructor(store: CheckpointStore, codec: Codec, same: (watch: Watch) => boolean = isSame) {
    this.#store = store
    this.#codec = codec
    this.#isSame = same
  }

  /** Elements that are held. */
  get size(): number {
    let size = 0
    for (const { elements } of this.#byChannel.values()) size += elements.length
    return size
  }

  /** The part of a list that is saved. */
  async encode(channel: string, list: readonly unknown[]): Promise<ValuePart> {
    const live = this.#byChannel.get(channel)
    if (live && this.#begins(list, live)) {
      const more = list.slice(live.elements.length)
      if (more.length === 0) return live.part
      const part = this.#store.values.part(await this.#codec.encodeList(more), { after: live.part })
      this.#byChannel.set(channel, { part, elements: [...list], watches: [...live.watches, ...more.map(watch)] })
      return part
    }
    const part = this.#store.values.part(await this.#codec.encodeList(list))
    this.keep(channel, part, list)
    return part
  }

  /** The elements of a stored list, if they are held and nobody has changed them. */
  decode(channel: string, part: ValuePart): unknown[] | undefined {
    const live = this.#byChannel.get(channel)
    return live?.part === part && this.#begins(live.elements, live) ? [...live.elements] : undefined
  }

  keep(channel: string, part: ValuePart, elements: readonly unknown[]): void {
    this.#byChannel.set(channel, { part, elements: [...elements], watches: elements.map(watch) })
  }

  clear(): void {
    this.#byChannel.clear()
  }

  /** Whether a list begins with these elements, unchanged. */
  #begins(list: readonly unknown[], { elements, watches }: Live): boolean {
    if (list.length < elements.length) return false
    for (let i = 0; i < elements.length; i++) if (list[i] !== elements[i]) return false
    for (const watched of watches) if (watched === undefined || (watched && !this.#isSame(watched))) return false
    return true
  }
}
