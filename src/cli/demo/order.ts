// The agent of the demo, in its own process: it charges a customer, sends a mail, asks a person and sends a parcel, all in one run. It
// reports its own actions and the answers of its tape, and halts where it is to be killed or stopped.

import { readSync } from 'node:fs'
import { type EffectContext, InkError, open } from '../../index.ts'
import { type Halt, type How, ORDER, type OrderLine, type OrderPlan } from './order-plan.ts'
import { act, actOnce } from './outbox.ts'

const { path, outbox, lease, halt } = JSON.parse(process.argv[2] ?? '{}') as OrderPlan
const say = (line: OrderLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
// The demo itself has ended.
process.stdout.on('error', () => process.exit(1))

const store = await open({ url: path, lease })
const session = await store.session(ORDER.session, { title: 'Order 4711' })
await using run = await session.run(ORDER.run, { input: { order: ORDER.order, amount: ORDER.amount }, wait: '40s' })
say({ said: 'taken up', fence: run.fence, attempt: run.attempt })

/** Halts until it is killed or the demo has ended. */
const stand = (at: Halt): Promise<never> => {
  say({ said: 'halted', at })
  process.stdin.on('end', () => process.exit(1)).resume()
  return new Promise(() => {})
}

/**
 * Halts in a blocking read until a line comes. It holds no lock of the store meanwhile: a process that is stopped during a write to the
 * file would block all other writers.
 */
const standBlocked = (at: Halt): void => {
  say({ said: 'halted', at })
  readSync(0, Buffer.alloc(1))
}

async function step(name: string, work: (context: EffectContext) => unknown): Promise<void> {
  let how: How = 'replayed'
  await run.effect(name, (context) => {
    how = 'executed'
    return work(context)
  })
  say({ said: 'step', name, how })
}

const { pid } = process
try {
  await step('charge', () => {
    act(outbox, { tool: 'charge', pid })
    return { charged: ORDER.amount, currency: 'EUR' }
  })
  if (halt === 'charge recorded') await stand(halt)

  await step('mail', async ({ key }) => {
    const sent = actOnce(outbox, { tool: 'mail', pid, key })
    if (halt === 'inside mail') await stand(halt)
    return { sent }
  })
  if (halt === 'mail recorded') standBlocked(halt)

  await run.approval(ORDER.approval, { order: ORDER.order })
  say({ said: 'answered' })

  await step('parcel', () => {
    act(outbox, { tool: 'parcel', pid })
    return { parcel: 'P-1' }
  })
  await run.finish({ order: ORDER.order, parcel: 'P-1' })
  say({ said: 'done' })
} catch (error) {
  if (!(error instanceof InkError)) throw error
  say({ said: 'refused', code: error.code, message: error.message })
}
await store.close()
