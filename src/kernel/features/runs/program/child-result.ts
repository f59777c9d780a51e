// The promise of a child's result. Each branch that awaits it waits for the child by itself, so branches may share one promise: each has the wait
// on its own part of the tape, whichever of them asked first.

export class ChildResult<T> extends Promise<T> {
  readonly #place: () => string
  readonly #ask: () => Promise<T>
  readonly #asked = new Map<string, Promise<T>>()

  /** `place` is the path of the branch that awaits, and `ask` waits for the child there. */
  constructor(place: () => string, ask: () => Promise<T>) {
    super(() => {})
    this.#place = place
    this.#ask = ask
  }

  // Promises derived from it are ordinary ones.
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting calls `then` in the context of the branch that awaits
  override then<A = T, B = never>(
    onfulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onrejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const place = this.#place()
    const asked = this.#asked.get(place) ?? this.#ask()
    this.#asked.set(place, asked)
    return asked.then(onfulfilled, onrejected)
  }
}
