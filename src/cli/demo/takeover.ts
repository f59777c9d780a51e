// Four processes in a row work on one run: two are killed at the worst moments, one is stopped until its lease expires, and the last one
// finishes. Their reports are kept, to be compared with the journal and the outbox.

import type { Event, Store } from '../../index.ts'
import { Child } from './child.ts'
import { type Halt, ORDER, type OrderLine, type OrderPlan } from './order-plan.ts'

export interface Owner {
  readonly pid: number
  readonly fence: number
  /** The outcome of each step: done by the process, or answered by its tape. */
  readonly steps: Readonly<Record<string, string>>
  readonly end: string
  /** Milliseconds since the end of the previous process; 0 for the first. */
  readonly afterMs: number
}

export interface Takeover {
  readonly owners: readonly Owner[]
  readonly run: string
  readonly refusal: { readonly code: string; readonly message: string; readonly grown: number }
  /** Milliseconds from the decision until the agent received it. */
  readonly answeredMs: number
  /** The events of the run in the journal. */
  readonly tape: readonly Event[]
}

// On Linux a dead process is proven gone, so its lease need not expire. The long lease shows which of the two happened.
const LEASE = process.platform === 'linux' ? ({ ttl: '30s', renew: '10s' } as const) : ({ ttl: '2s', renew: '500ms' } as const)
// Long enough that a process on a busy machine renews it in time, short enough to wait for its end.
const SHORT_LEASE = { ttl: '1500ms', renew: '300ms' } as const

type Agent = Child<OrderLine>

export async function takeOver(store: Store, path: string, outbox: string, signal: AbortSignal): Promise<Takeover> {
  const agents: Agent[] = []
  let before = performance.now()
  const start = async (halt: Halt, lease: OrderPlan['lease'] = LEASE) => {
    const agent: Agent = new Child('order', { path, outbox, lease, halt } satisfies OrderPlan)
    agents.push(agent)
    await agent.says('taken up', signal)
    return { agent, afterMs: agents.length === 1 ? 0 : performance.now() - before }
  }
  try {
    const first = await start('charge recorded')
    await first.agent.says('halted', signal)
    await first.agent.kill()
    before = performance.now()

    const second = await start('inside mail')
    await second.agent.says('halted', signal)
    await second.agent.kill()
    before = performance.now()

    const third = await start('mail recorded', SHORT_LEASE)
    await third.agent.says('halted', signal)
    third.agent.stop()
    before = performance.now()

    const fourth = await start('nowhere')
    const { run, approval } = await asked(store, signal)
    const head = (await store.head()).seq
    third.agent.goOn()
    const { code, message } = await third.agent.says('refused', signal)
    await third.agent.ends()
    const grown = (await store.head()).seq - head

    const answered = performance.now()
    await store.approvals.decide(approval, { decision: 'approve', by: 'user_grace' })
    await fourth.agent.says('answered', signal)
    const answeredMs = performance.now() - answered
    await fourth.agent.says('done', signal)
    await fourth.agent.ends()

    const ends = ['killed after charge', 'killed inside mail', 'stopped, too late', 'done']
    const owners = [first, second, third, fourth].map(({ agent, afterMs }, i) => ownerOf(agent, afterMs, ends[i] as string))
    const tape: Event[] = []
    for await (const event of store.runs.tape(run)) tape.push(event)
    return { owners, run, refusal: { code, message, grown }, answeredMs, tape }
  } finally {
    await Promise.all(agents.map((agent) => agent.kill()))
  }
}

/** Waits for the agent's question. */
async function asked(store: Store, signal: AbortSignal): Promise<{ readonly run: string; readonly approval: string }> {
  for (;;) {
    signal.throwIfAborted()
    const { items } = await store.approvals.list({ state: 'pending' })
    const found = items.find(({ subject }) => subject === ORDER.approval)
    if (found?.run) return { run: found.run, approval: found.id }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

function ownerOf(agent: Agent, afterMs: number, end: string): Owner {
  const steps: Record<string, string> = {}
  let fence = 0
  for (const line of agent.lines) {
    if (line.said === 'taken up') fence = line.fence
    if (line.said === 'step') steps[line.name] = line.how
    // The process was killed before it could report, and nothing was recorded.
    if (line.said === 'halted' && line.at === 'inside mail') steps.mail = 'begun'
    if (line.said === 'answered') steps.approval = 'answered'
  }
  return { pid: agent.pid, fence, steps, end, afterMs }
}
