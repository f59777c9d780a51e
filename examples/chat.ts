// A chat whose answer is streamed by another process. That process is killed (SIGKILL) in the middle of the answer; what it had written is
// there, marked as interrupted, and the next process answers again under the same id.
//
// Run it after `npm run build` with: node examples/chat.ts [file]

import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { open, type StoredMessage } from 'inkfast'

const [file = 'chat-example.db', role] = process.argv.slice(2)
const answer = 'An answer comes word by word, and every word that was written is kept. '.repeat(40).split(/(?<= )/)

if (role === 'answer') await streamAnswer(Number.POSITIVE_INFINITY)
else await chat()

/** The model: it sends one word at a time. */
async function streamAnswer(pauseMs: number): Promise<void> {
  await using store = await open(file)
  const { thread } = await store.session('chat')
  await using stream = thread.stream('a1', { restart: true, trigger: 'submit-message' })
  await stream.write({ type: 'start', messageId: 'a1' })
  await stream.write({ type: 'text-start', id: '0' })
  for (const [i, delta] of answer.entries()) {
    await stream.write({ type: 'text-delta', id: '0', delta })
    // In the middle of the answer the first process stops, and is killed there.
    if (i === answer.length >> 1 && pauseMs > 0) await wait(60_000)
  }
  await stream.write({ type: 'text-end', id: '0' })
  await stream.write({ type: 'finish', finishReason: 'stop' })
}

async function chat(): Promise<void> {
  await using store = await open(file)
  const { thread } = await store.session('chat')
  await thread.add({ id: 'q1', role: 'user', parts: [{ type: 'text', text: 'How are answers kept?' }] })

  const { seq: after } = await store.head()
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1, 2), file, 'answer'], { stdio: 'inherit' })
  const ended = new Promise((resolve) => child.on('close', resolve))
  for await (const event of store.events({ after, types: ['thread.message.*'], live: true })) if (event.session) break
  child.kill('SIGKILL')
  await ended

  const half = textOf(await thread.get('a1'))
  const interrupted = (await thread.record('a1'))?.interrupted
  console.log(`killed after ${half.length} characters; interrupted: ${interrupted}`)

  await streamAnswer(0)
  const whole = textOf(await thread.get('a1'))
  console.log(`answered again: ${whole.length} characters; finish reason: ${(await thread.record('a1'))?.finishReason}`)
  const fine = interrupted === true && half.length > 0 && whole.startsWith(half) && whole === answer.join('')
  const { intact } = await store.verify()
  await store.close()
  if (process.argv[2] === undefined) for (const end of ['', '-wal', '-shm']) await rm(`${file}${end}`, { force: true })
  if (!fine || !intact) process.exitCode = 1
}

function textOf(message: StoredMessage | undefined): string {
  return message?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('') ?? ''
}
