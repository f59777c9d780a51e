// A decision of the store shows in the messages that asked for it.

import { convertToModelMessages, safeValidateUIMessages } from 'ai'
import { describe, expect, test } from 'vitest'
import { engines, expectSound } from '../support/engines.ts'

describe.each(engines)('decisions in messages on $name', ({ open }) => {
  test('a decision shows wherever the message is read, without a repair', async () => {
    const store = await open()
    const session = await store.session('s')
    const { thread } = session
    const tool = (name: string, approval: string) => ({
      ...{
        type: `tool-${name}`,
        toolCallId: name,
        state: 'approval-requested',
        input: { n: 1 },
        approval: { id: approval, requestReason: 'money' },
      },
    })
    await thread.add({ id: 'q', role: 'user', parts: [{ type: 'text', text: 'go' }] })
    const keys = ['yes', 'no', 'late', 'gone', 'open', 'unknown', 'elsewhere', 'of-no-session']
    await thread.add({ id: 'a', role: 'assistant', parts: [...keys.map((key) => tool(key, key)), { type: 'text', text: 'wait' }] })
    const loose = await store.approvals.request({ subject: 'other', key: 'of-no-session' })
    await store.approvals.decide(loose.id, { decision: 'approve' })
    const request = (key: string, more: object = {}) => store.approvals.request({ subject: key, key, session: session.id, ...more })
    const yes = await request('yes')
    await store.approvals.decide(yes.id, { decision: 'approve', note: 'fine' })
    await store.approvals.decide((await request('no')).id, { decision: 'deny' })
    await store.approvals.withdraw((await request('gone')).id)
    await store.approvals.wait((await request('late', { within: 1 })).id)
    await request('open')
    const at = (await store.head()).seq
    const other = await store.session('other')
    await store.approvals.decide((await request('elsewhere', { session: other.id })).id, { decision: 'approve' })
    const shown = [
      { state: 'approval-responded', approval: { id: 'yes', requestReason: 'money', approved: true, reason: 'fine' } },
      { state: 'approval-responded', approval: { id: 'no', requestReason: 'money', approved: false } },
      { state: 'approval-responded', approval: { id: 'late', requestReason: 'money', approved: false, reason: 'expired' } },
      { state: 'approval-responded', approval: { id: 'gone', requestReason: 'money', approved: false, reason: 'withdrawn' } },
      ...['open', 'unknown', 'elsewhere', 'of-no-session'].map((id) => ({
        state: 'approval-requested',
        approval: { id, requestReason: 'money' },
      })),
      { type: 'text' },
    ]
    const messages = await thread.messages()
    expect(messages[1]?.parts).toMatchObject(shown)
    expect(messages[1]?.parts.map((part) => ('approval' in part ? part.approval : {}))).toEqual(
      shown.map((part) => ('approval' in part ? part.approval : {})),
    )
    expect(await thread.get('a')).toEqual(messages[1])
    expect((await safeValidateUIMessages({ messages })).success).toBe(true)
    const model = await convertToModelMessages(await thread.messages())
    expect(model.flatMap(({ role, content }) => (role === 'tool' ? content : []))).toContainEqual(
      expect.objectContaining({ type: 'tool-approval-response', approvalId: 'yes', approved: true }),
    )
    await thread.update('a', (message) => {
      expect(message).toEqual(messages[1])
      return message
    })
    // What was approved here does not run in a fork, too.
    const fork = await session.fork({ at })
    expect((await fork.thread.get('a'))?.parts[0]).toMatchObject({ state: 'approval-requested' })
    // A stream goes on from what is shown.
    {
      await using stream = thread.stream('a')
      await stream.write({ type: 'tool-output-available', toolCallId: 'yes', output: 1 })
    }
    expect((await thread.get('a'))?.parts[0]).toMatchObject({ state: 'output-available', approval: { approved: true } })
    expect((await safeValidateUIMessages({ messages: await thread.messages() })).success).toBe(true)
    await expectSound(store)
  })
})
