// Places of branches that lost a race. A long run has many of them, so a place is looked up and not searched for.

export class LostPlaces {
  readonly #places = new Set<string>()

  add(place: string): void {
    this.#places.add(place)
  }

  /** Whether the branch lost, or a branch that it belongs to. */
  has(place: string): boolean {
    for (let end = place.length; end > 0; end = place.lastIndexOf('/', end - 1)) if (this.#places.has(place.slice(0, end))) return true
    return false
  }
}
