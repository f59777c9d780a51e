// The bar under the parts that everything rests on: which they are, how much of their branches tests must reach, and which tests are watched for it.

/** In percent of the branches of each part. */
export const BAR = 95

/** Parts whose every branch is a promise: where a hash, a guard, a lost reply or a secret is decided. */
export const PARTS: Readonly<Record<string, string>> = {
  chain: 'src/model/chain.ts',
  commit: 'src/backends/*/commit.ts',
  lane: 'src/kernel/{writing/lane,writing/known-heads,time/store-time,measuring/watchdog}.ts',
  redact: 'src/redact/*.ts',
}

/**
 * Tests that are there for these parts. Whoever is watched counts every branch of all it runs, which takes up to three times as long, so the others
 * are not: what they reach by the way adds nothing to the bar.
 */
export const WATCHED: readonly string[] = [
  'src/{model,backends}/**/*.test.ts',
  'src/kernel/{*,{writing,reading,content,proof,time,naming,session,failing,measuring,wiring}/*}.test.ts',
  'src/redact/*.test.ts',
  'test/{conformance,redact}/*.test.ts',
]
