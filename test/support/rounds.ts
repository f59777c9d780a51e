// How many rounds a test takes and from which seeds: few in `npm test`, many in `npm run long`.

/** Set by scripts/test.ts: `quick`, `long`, or nothing for `npm test`. */
const mode = process.env.INKFAST_TEST_ROUNDS

/** `npm run long`: the whole matrix and many rounds. */
export const LONG = mode === 'long'

/** `npm run quick`: no server. */
export const QUICK = mode === 'quick'

/** The first seed of every test that takes seeds. `npm run long` draws it and prints it; `npm run long -- --seed n` repeats it. */
export const SEED = Number(process.env.INKFAST_TEST_SEED ?? 1)

export const rounds = (short: number, long: number): number => (LONG ? long : short)

/** One seed per round. */
export const seeds = (short: number, long: number): readonly number[] => Array.from({ length: rounds(short, long) }, (_, i) => SEED + i)

/** All items in a long run; otherwise every n-th, beginning where the seed says, so that another seed takes others. */
export const share = <T>(items: readonly T[], every: number): readonly T[] =>
  LONG ? items : items.filter((_, i) => i % every === SEED % every)
