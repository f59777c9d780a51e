// The writer of the demo, in its own process: many callers append as an agent would, and report a receipt only after their promise has
// resolved. It runs until it is killed.

import { open, type Receipt, type Session } from '../../index.ts'

export interface AgentPlan {
  readonly path: string
  /** Number of acknowledged steps per caller: all that is known of it after a kill. */
  readonly done: readonly number[]
}

/** One line on stdout. */
export type AgentLine =
  | { readonly head: number }
  | { readonly caller: number; readonly step: number; readonly inFlight: number; readonly receipt: Receipt }

const SESSIONS = 4
const turn = ['model.called', 'model.answered', 'tool.called', 'tool.returned', 'plan.changed'] as const

const dataOf = (caller: number, step: number): Record<string, unknown> => {
  const call = `call-${caller}-${Math.ceil(step / turn.length)}`
  const said = {
    'model.called': { call, model: 'example-large', messages: 12 + (step % 7) },
    'model.answered': { call, finish: 'tool', usage: { input: 800 + step, output: 60 + caller } },
    'tool.called': { call, tool: 'orders.find', arguments: { order: 4000 + step } },
    'tool.returned': { call, result: { order: 4000 + step, state: 'shipped', items: ['lamp', 'cable'] } },
    'plan.changed': { steps: ['find the order', 'check the parcel', 'answer'], at: step % 3 },
  }[typeOf(step)]
  return { caller, step, ...said }
}

const typeOf = (step: number): (typeof turn)[number] => turn[(step - 1) % turn.length] as (typeof turn)[number]

const say = (line: AgentLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

const { path, done } = JSON.parse(process.argv[2] ?? '{}') as AgentPlan
// The demo itself has ended.
process.stdout.on('error', () => process.exit(1))
const store = (await open(path)).as('agent_demo')
const sessions = await Promise.all(
  Array.from({ length: SESSIONS }, (_, i) => store.session(`demo/agent-${i}`, { title: `Demo agent ${i}` })),
)
say({ head: (await store.head()).seq })

let inFlight = 0

async function caller(number: number): Promise<never> {
  const session = sessions[number % SESSIONS] as Session
  for (let step = (done[number] ?? 0) + 1; ; step++) {
    inFlight++
    // After a kill the first step may be on disk already. Its key is the same, so it is written once.
    const receipt = await session.append(typeOf(step), dataOf(number, step), { key: `caller-${number}/step-${step}` })
    say({ caller: number, step, inFlight, receipt })
    inFlight--
  }
}

await Promise.all(done.map((_, number) => caller(number)))
