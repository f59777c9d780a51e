// The event that is written over and over: what an agent says after a tool has run, about 300 bytes.

export const TYPE = 'tool.finished'

const OUTPUTS = [
  'ok: 41 passed, 0 failed in 3.2 s; 93 % of lines covered, two slow files: lane.test.ts and verify.test.ts',
  'The order was shipped on Tuesday and should arrive by Friday; the customer asked to be told when it does.',
  'src/kernel/writing/lane.ts:112: the batch is taken before the heads are known, so a first commit reads the head once.',
  'Found 3 matching documents; the newest one says that refunds above 100 EUR need a second pair of eyes.',
] as const

export interface ToolFinished {
  readonly tool: string
  readonly call: string
  readonly input: { readonly command: string; readonly cwd: string }
  readonly output: string
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number }
  readonly durationMs: number
  readonly attempt: number
}

export const payload = (i: number): ToolFinished => ({
  tool: 'shell.run',
  call: `call_${i}`,
  input: { command: 'npm test -- --filter journal', cwd: '/srv/app' },
  output: OUTPUTS[i & 3] as string,
  usage: { inputTokens: 812 + (i % 97), outputTokens: 64 },
  durationMs: 3000 + (i % 911),
  attempt: 1,
})
