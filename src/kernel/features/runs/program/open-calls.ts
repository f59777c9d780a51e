// The calls of a program that have no answer yet. A checkpoint is refused while there are any, because replay after it would not ask for them.

interface OpenCall {
  readonly what: string
  /** The branch that made the call, with its epoch. */
  readonly place: string
}

export class OpenCalls {
  readonly #open = new Set<OpenCall>()

  /** Call the returned function when the program has the answer. */
  begins(what: string, place: string): () => void {
    const call = { what, place }
    this.#open.add(call)
    return () => void this.#open.delete(call)
  }

  /** Runs `call` as an open call. A call that never returns stays open. */
  async during<T>(what: string, place: string, call: () => Promise<T>): Promise<T> {
    const end = this.begins(what, place)
    try {
      return await call()
    } finally {
      end()
    }
  }

  /** Describes the open calls. Those of branches that lost a race are never answered, and forgotten here. */
  list(isLost: (place: string) => boolean): readonly string[] {
    for (const call of this.#open) if (isLost(call.place)) this.#open.delete(call)
    return [...this.#open].map(({ what }) => what)
  }
}
