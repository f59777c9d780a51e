// Wake-ups: a commit wakes the watchers of its tenant, and no others.

import { ok, deepEqual as same } from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { group } from '../case.ts'
import { MAIN, OTHER } from '../material.ts'
import { save, within } from './expect.ts'

const a = group('wakeups')

const wakes = 'whoever watches a tenant is woken after a commit to it'
const quiet = 'nobody is woken who does not watch'
const others = 'commits through another handle are noticed'

// Long enough for an unwanted wake-up to arrive.
const A_WHILE = 25

export const wakeups = [
  a(wakes, 'a commit wakes those who watch its tenant, each time', async ({ backend, make, noticeMs }) => {
    let woken = 0
    const stop = backend.wakeups.watch(MAIN, () => woken++)
    let patient = 0
    const stopPatient = backend.wakeups.watch(MAIN, () => patient++, { patient: true })
    for (let i = 1; i <= 3; i++) {
      const [before, patientBefore] = [woken, patient]
      await save(backend, make.commit(MAIN))
      ok(await within(noticeMs, () => woken > before && patient > patientBefore), `woken by commit ${i}`)
    }
    stop()
    stopPatient()
  }),

  a(wakes, 'the events are there to be read when the wake-up comes', async ({ backend, make, noticeMs }) => {
    const seen: Promise<number>[] = []
    const stop = backend.wakeups.watch(MAIN, () => seen.push(backend.journal.head(MAIN).then((head) => head.seq)))
    await save(backend, make.commit(MAIN))
    ok(await within(noticeMs, () => seen.length > 0), 'woken')
    stop()
    same(await seen[0], 1)
  }),

  a(quiet, 'whoever has stopped watching is not woken', async ({ backend, make, noticeMs }) => {
    let [stopped, watching] = [0, 0]
    const stop = backend.wakeups.watch(MAIN, () => stopped++)
    const stopOther = backend.wakeups.watch(MAIN, () => watching++)
    stop()
    stop()
    await save(backend, make.commit(MAIN))
    ok(await within(noticeMs, () => watching > 0), 'stopping one leaves the others')
    await wait(A_WHILE)
    same(stopped, 0)
    stopOther()
  }),

  a(quiet, 'a commit to one tenant does not wake those who watch another', async ({ backend, make }) => {
    let woken = 0
    const stop = backend.wakeups.watch(MAIN, () => woken++)
    await save(backend, make.commit(OTHER))
    await wait(A_WHILE)
    same(woken, 0)
    stop()
  }),

  a(
    others,
    'a commit through another handle wakes those who watch here',
    async ({ backend, make, second, noticeMs }) => {
      const other = await second()
      let woken = 0
      const stop = backend.wakeups.watch(MAIN, () => woken++)
      await wait(A_WHILE)
      const before = woken
      await save(other, make.commit(MAIN))
      ok(await within(noticeMs, () => woken > before), 'woken by the other handle')
      same((await backend.journal.head(MAIN)).seq, 1)
      stop()
    },
    'second',
  ),
]
