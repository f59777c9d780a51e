// Canvases over a backend that loses replies: no patch is applied twice, whatever the callers heard.

import { expect, test } from 'vitest'
import { faults } from '../../src/conformance/index.ts'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { open } from '../../src/index.ts'
import { expectSound, later } from '../support/engines.ts'

const { failAfter, failBefore } = faults

test('patches that were written together and whose outcome is unknown are not sent again', async () => {
  // The reply to one commit is lost, and the backend is away for both times that the lane sends it again.
  let [call, lost] = [0, Infinity]
  const saving = failAfter(handleTo(freshMemory()), () => call === lost)
  const backend = failBefore(saving, () => ++call === lost + 1 || call === lost + 2)
  const store = await open({ backend })
  later(() => store.close())
  const canvas = (await store.session('s')).canvas('plan')
  await canvas.replace({ list: [] })
  lost = call + 1
  const asked = [1, 2, 3].map((n) => canvas.patch([{ op: 'add', path: '/list/-', value: n }]))
  const told = (await Promise.allSettled(asked)).map((one) => (one.status === 'rejected' ? one.reason.code : one.value))
  expect(told).toEqual(['OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN'])
  expect(await canvas.get()).toEqual({ document: { list: [1, 2, 3] }, version: 4 })
  expect(await canvas.patch([{ op: 'add', path: '/list/-', value: 4 }])).toEqual({ version: 5 })
  await expectSound(store)
})
