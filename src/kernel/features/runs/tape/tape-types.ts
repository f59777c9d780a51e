// Event types that stand on the tape of a run and belong to no decider: they change no row.

export const TAPE_TYPES: readonly string[] = ['effect.started', 'effect.streamed', 'effect.retried', 'effect.settled', 'race.won']
