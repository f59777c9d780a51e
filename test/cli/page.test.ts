// The reference page of the command line against the commands themselves: every verb and every option is described, and nothing else is.

import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { program } from '../../src/cli/program.ts'
import { headingsOf } from '../support/markdown.ts'
import { read } from '../support/project.ts'
import { compareNames } from '../support/tidy/pages.ts'

const commands = program(
  () => {
    throw new Error('nothing is run here')
  },
  () => {},
).commands
const page = read('docs/reference/cli.md')

/** Said once, for all commands. */
const EVERYWHERE = ['--json', '--help']
/** Described where they are first met. */
const ELSEWHERE: Readonly<Record<string, string>> = { tail: 'events' }

const optionsOf = (command: Command): readonly string[] =>
  [command, ...command.commands]
    .flatMap(({ options }) => options.map(({ long }) => long ?? ''))
    .filter((name) => name !== '' && !EVERYWHERE.includes(name))

function checkPage(text: string): readonly string[] {
  const sections = new Map(headingsOf(text).map(({ text: heading, body }) => [heading, body]))
  return commands.flatMap((command) => {
    const name = command.name()
    const body = sections.get(name)
    if (body === undefined) return [`the page has no section ${name}`]
    const synopsis = /```\n([\s\S]*?)```/.exec(body)?.[1] ?? ''
    const said = new Set(synopsis.match(/--[a-z][a-z-]*/g)?.filter((option) => !EVERYWHERE.includes(option)))
    const described = `${body}${sections.get(ELSEWHERE[name] ?? '') ?? ''}`
    const options = [...new Set(optionsOf(command))]
    const verbs = command.commands.map((verb) => verb.name())
    const lines = synopsis.split('\n').filter((line) => line.startsWith('inkfast '))
    const onPage = lines.flatMap((line) => /^inkfast \S+ \[?([a-z]+)\]? \[?(?:store|file|<)/.exec(line)?.[1] ?? [])
    return [
      ...options
        .filter((option) => !new RegExp(`${option}(?![\\w-])`).test(described))
        .map((option) => `${name}: ${option} is not described`),
      ...[...said].filter((option) => !options.includes(option)).map((option) => `${name}: there is no ${option}`),
      ...(verbs.length > 0 ? compareNames(`verb of ${name}`, verbs, [...new Set(onPage)]) : []),
    ]
  })
}

describe('docs/reference/cli.md', () => {
  test('docs/reference/cli.md describes every command, its verbs and its options, and no others', () => {
    expect(checkPage(page)).toEqual([])
  })

  test.each([
    ['a section that is gone', (text: string) => text.replace('\n## cron\n', '\n## crn\n'), 'the page has no section cron'],
    [
      'a verb that is not there',
      (text: string) => text.replace(/^inkfast queue redrive .*\n/m, ''),
      'verb of queue redrive is not on its page',
    ],
    [
      'a verb that does not exist',
      (text: string) => text.replace(/^(inkfast queue redrive .*)\n/m, '$1\ninkfast queue purge [store] <queue>\n'),
      'the page describes verb of queue purge, which does not exist',
    ],
    [
      'an option that is not described',
      (text: string) => text.replaceAll('--pause-after', '--pause'),
      'cron: --pause-after is not described',
    ],
    ['an option that does not exist', (text: string) => text.replace('[--all]', '[--all] [--some]'), 'queue: there is no --some'],
  ])('docs/reference/cli.md is found wanting with %s', (_, change, said) => {
    expect(checkPage(change(page))).toContain(said)
  })
})
