// A journal whose events do not lie at 1 to its head. Every backend tells it in the same words.

export interface Extent {
  readonly tenant: string
  /** The seq of the head. */
  readonly head: number
  readonly events: number
  /** The seq of the last event. */
  readonly last: number
}

/** Undefined if the events of the journal fill the seqs from 1 to its head. */
export const misplacedEvents = ({ tenant, head, events, last }: Extent): string | undefined =>
  events === head && last === head
    ? undefined
    : `the journal of tenant ${tenant} has its head at seq ${head}, but holds ${events} events up to seq ${last}. Appends may fail. ` +
      'Run inkfast verify to see the places, and repair them as the operating guide says.'
