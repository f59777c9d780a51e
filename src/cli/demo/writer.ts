// Starts the agent as a child process, reads its receipts and kills it in the middle of its work.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Receipt } from '../../index.ts'
import type { AgentLine, AgentPlan } from './agent.ts'
import { demoProgram } from './program-file.ts'

export interface Round {
  /** Acknowledged receipts, as the agent reported them. */
  readonly receipts: readonly Receipt[]
  /** Number of them that were in the journal before the agent started: retried steps. */
  readonly repeated: number
  readonly inFlight: number
  readonly ms: number
  readonly done: readonly number[]
}

// A slow disk gives fewer receipts, not a longer demo. The time begins with the first receipt: a busy machine starts processes slowly.
const ROUND_MS_MOST = 5000
const FIRST_MS_MOST = 60_000

/** Lets the agent write until `enough` receipts were seen, then kills it without warning. */
export async function writeUntilKilled(plan: AgentPlan, enough: number, signal: AbortSignal): Promise<Round> {
  const child = spawn(process.execPath, [demoProgram('agent'), JSON.stringify(plan)], { stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = () => void child.kill('SIGKILL')
  let late = setTimeout(kill, FIRST_MS_MOST)
  signal.addEventListener('abort', kill)
  const receipts: Receipt[] = []
  const done = [...plan.done]
  let [head, inFlight, repeated, started, ended] = [0, 0, 0, 0, 0]
  let [rest, failure] = ['', '']
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    failure += text
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    // A line cut off by the kill does not count.
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const said = JSON.parse(line) as AgentLine
      if ('head' in said) {
        head = said.head
        started = performance.now()
        continue
      }
      if (receipts.length === 0) {
        clearTimeout(late)
        late = setTimeout(kill, ROUND_MS_MOST)
      }
      receipts.push(said.receipt)
      done[said.caller] = said.step
      if (said.receipt.seq <= head) repeated++
      if (receipts.length <= enough) inFlight = said.inFlight
    }
    if (receipts.length < enough || ended > 0) return
    ended = performance.now()
    kill()
  })
  await once(child, 'close')
  clearTimeout(late)
  signal.removeEventListener('abort', kill)
  signal.throwIfAborted()
  if (child.signalCode !== 'SIGKILL')
    throw new Error(`the writer ended by itself: ${/^\w*Error.*$/m.exec(failure)?.[0] ?? `exit ${child.exitCode}`}`)
  return { receipts, repeated, inFlight, ms: Math.max(0, (ended || performance.now()) - started), done }
}
