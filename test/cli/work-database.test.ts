// Queues, jobs, triggers and processes of a store on a server, at the terminal: as a node, and as a login that may only look.

import { expect, test } from 'vitest'
import { PASSWORD, servedStore, TENANT_KEY } from './database-support.ts'
import { inkHere as ink, inkHereJson as inkJson } from './support.ts'
import { SECRET, storeWithWork } from './work-support.ts'

test('a node looks and changes, and whoever may only look only looks', async () => {
  const served = await servedStore()
  const ids = await storeWithWork({ url: served.node, tenantKey: TENANT_KEY })
  const env = { INKFAST_URL: served.node, INKFAST_TENANT_KEY: TENANT_KEY }
  const lookingOnly = { ...env, INKFAST_URL: served.reader }

  for (const asked of [env, lookingOnly]) {
    for (const [words, said] of [
      [['queue', '--all'], /^outbox +1 +1 +1 +0 +0$/m],
      [['queue', 'list', 'outbox'], / held by desk 3 until .* \(in 59 min\)$/m],
      [['queue', 'show', 'bad', ids.dead], /^error +Error: no such mailbox/m],
      [['cron'], /^digest .* paused /m],
      [['cron', 'show', 'digest'], /^\S+ \S+ +failed .* the printer is out of ink$/m],
      [['triggers', 'show', 'mail'], / dead \(Error: smtp said no\)$/m],
      [['processes', 'show', 'crawl/4711'], /^waits +for approval/m],
    ] as const) {
      const { code, out, err } = await ink(words, asked)
      expect([code, err], words.join(' ')).toEqual([0, ''])
      expect(out).toMatch(said)
      for (const hidden of [SECRET, PASSWORD]) expect(out).not.toContain(hidden)
    }
  }

  const changes = [
    ['queue', 'offer', 'outbox', '{"to":"cy"}', '--key', 'welcome/cy'],
    ['queue', 'cancel', 'outbox', ids.ready, '--reason', 'withdrawn'],
    ['queue', 'redrive', 'bad'],
    ['cron', 'set', 'late', '--at', '2020-01-01', '--queue', 'late'],
    ['cron', 'resume', 'digest'],
    ['cron', 'run', 'digest'],
    ['triggers', 'fire', 'orders', '{"state":"paid"}'],
    ['triggers', 'disable', 'mail'],
    ['processes', 'cancel', 'crawl/4711', '--reason', 'withdrawn'],
    ['processes', 'grant', 'done', 'support/4711'],
  ]
  expect(await ink(changes[0] as readonly string[], lookingOnly)).toMatchObject({ code: 3, out: '' })
  for (const words of changes)
    expect(await ink([...words, '--actor', 'user_ops'], env), words.join(' ')).toMatchObject({ code: 0, err: '' })
  // It was due from the moment it was set, and no command did the work of a node.
  expect((await inkJson(['cron', 'show', 'late'], env)).occurrences).toEqual({ items: [] })
  expect((await ink(['queue', 'show', 'outbox', ids.ready], env)).code).toBe(3)
  expect((await ink(['verify'], env)).code).toBe(0)
  expect((await ink(['rebuild', '--check'], env)).code).toBe(0)
})
