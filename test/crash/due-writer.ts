// A program that offers items in many tenants while a node of its own serves all of them: `b` at each step, until it is killed. Some items are
// delayed for good, so that the times of their tenants are raised once everything else is done.

import { setTimeout as wait } from 'node:timers/promises'
import { chance } from '../../src/conformance/chance.ts'
import { open } from '../../src/index.ts'

const [url = '', seed = '0', tenants = '1'] = process.argv.slice(2)
const { int, percent } = chance(Number(seed))
const ACTORS = 3

const store = await open({ url, logger: false })
const queueOf = (n: number) => store.tenant(`t${n}`).queue<{ readonly n: number }>('q')

store.queue<{ readonly n: number }>('q').work(
  async (claim) => {
    if (percent(10)) throw new Error('a handler fails')
    if (percent(10)) await claim.release({ delay: int(30) })
  },
  { tenants: 'all', concurrency: 4, lease: '1s' },
)

let offered = 0
async function act(): Promise<void> {
  const queue = queueOf(int(Number(tenants)))
  const n = offered++
  if (percent(8)) await queue.offer({ n }, { delay: '1h', backoff: '1s' })
  else await queue.offer({ n }, { delay: percent(50) ? 0 : int(60), backoff: 20, attempts: 50 })
  // A claim that is left alone runs out.
  if (percent(10)) await queue.claim({ lease: '1s' })
  process.stdout.write('b')
  if (percent(30)) await wait(int(20))
}

await Promise.all(
  Array.from({ length: ACTORS }, async () => {
    for (;;) await act()
  }),
)
