// A program that uploads a stream: it says `begun` once a few pieces are stored, and then waits for a line before it goes on, so that it can be
// killed or stopped in the middle. At the end it says the digest of the blob, or the code of the refusal.

import { open } from '../../src/index.ts'

const [url = '', layout = 'single', seed = '0'] = process.argv.slice(2)
const MIB = 1024 * 1024

const store = await open({ url, logger: false, ...(layout === 'tenant' && { layout }) })
const told = Promise.withResolvers<void>()
process.stdin.once('data', () => told.resolve())

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < 5; n++) {
    // The piece before is stored when the next one is asked for.
    if (n === 4) {
      console.log('begun')
      await told.promise
    }
    yield new Uint8Array(MIB).fill(n + Number(seed))
  }
}

await store.blobs.put(pieces()).then(
  ({ digest }) => console.log(digest),
  (error: { code?: string }) => console.log(error.code ?? String(error)),
)
await store.close()
process.stdin.destroy()
