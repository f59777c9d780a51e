// A run of a month loses many races: what it keeps of them is looked up by place, and open calls of lost branches are forgotten.

import { expect, test } from 'vitest'
import { LostPlaces } from './lost-places.ts'
import { OpenCalls } from './open-calls.ts'
import { RaceAppends } from './race-appends.ts'
import { Underway } from './shared-calls.ts'

test('a branch is lost if it or a branch above it lost, and its neighbours are not', () => {
  const lost = new LostPlaces()
  lost.add('1.slow')
  lost.add('7!2.a/1.b')
  const places = [
    '1.slow',
    '1.slow/1.x',
    '1.slow/1.x/3.y',
    '7!2.a/1.b',
    '7!2.a/1.b/1.c',
    '1.slower',
    '1.slo',
    '2.slow',
    '7!2.a',
    '2.a/1.b',
    '',
  ]
  expect(places.filter((place) => lost.has(place))).toEqual(places.slice(0, 5))
})

test('a call of a branch that lost a race is looked at once, and then forgotten', async () => {
  const calls = new OpenCalls()
  const looked: string[] = []
  const isLost = (place: string) => {
    looked.push(place)
    return place === 'lost'
  }
  for (let i = 0; i < 3; i++) void calls.during('sleep', 'lost', () => new Promise(() => {}))
  const end = calls.begins('effect', 'open')
  expect(calls.list(isLost)).toEqual(['effect'])
  expect(calls.list(isLost)).toEqual(['effect'])
  expect(looked).toEqual(['lost', 'lost', 'lost', 'open', 'open'])
  end()
  expect(calls.list(isLost)).toEqual([])
})

test('the events of losers are told, and those of earlier epochs are forgotten', async () => {
  const appends = new RaceAppends()
  const told: unknown[] = []
  const decide = (...losers: readonly string[]) => appends.decide(losers, async (left) => void told.push(left))
  const note = (ordinal: number, branch: string, epoch: number) =>
    appends.note({ kind: 'append', name: 'plan.changed', branch, ordinal, epoch }, branch)
  note(1, '1.slow', 0)
  await decide('1.slow')
  note(1, '2.other', 0)
  appends.startEpoch(1)
  await decide('2.other')
  note(1, '1.slow', 1)
  await decide('1!1.slow')
  const left = { branch: '1.slow', name: 'plan.changed', ordinals: [[1, 1]] }
  expect(told).toEqual([[left], [], [left]])
  expect(await appends.mayGoOn('1.slow/1.x')).toBe(false)
  expect(await appends.mayGoOn('1.slower')).toBe(true)
})

test('a new epoch forgets the calls underway, which belong to branches that lost a race', () => {
  const underway = new Underway()
  underway.set('1.slow\nsleep\nsleep\n1', new Promise(() => {}))
  underway.startEpoch(1)
  expect(underway.size).toBe(0)
})
