// The runs of one round of the takeover, the same for the process that holds them and for the one that takes them up.

export const names = (round: number) => ({
  /** Asked for, again and again, once its holder was killed. */
  asked: `asked-${round}`,
  /** Waited for since before that. */
  awaited: `awaited-${round}`,
  /** Offered to nodes. */
  offered: `offered-${round}`,
})
