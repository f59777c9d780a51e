// The words for how a job keeps to its schedule, ours and those of others.

import { describe, expect, it } from 'vitest'
import { limits } from '../../../model/limits.ts'
import { type PolicyOptions, takePolicy } from './policy.ts'

describe('a policy', () => {
  it('a policy forbids overlaps, makes up for what was missed once, and has no jitter unless said', () => {
    expect(takePolicy({})).toEqual({ overlap: 'forbid', missed: 'once', jitter: 0 })
  })

  it.each([
    ['forbid', 'forbid Forbid FORBID Skip SKIP'],
    ['replace', 'replace Replace CancelOther CANCEL_OTHER TerminateOther terminate-other'],
    ['queueOne', 'queueOne QueueOne queue_one QUEUEONE BufferOne BUFFER_ONE'],
    ['allow', 'allow Allow AllowAll ALLOW_ALL'],
  ])('a policy takes for overlap %s: %s', (overlap, words) => {
    for (const word of words.split(' ')) expect(takePolicy({ overlap: word }).overlap).toBe(overlap)
  })

  it.each([
    ['skip', 'skip Skip DoNothing do_nothing'],
    ['once', 'once ONCE FireOnceNow fireNow'],
    ['all', 'all All IgnoreMisfires'],
  ])('a policy takes for missed %s: %s', (missed, words) => {
    for (const word of words.split(' ')) expect(takePolicy({ missed: word }).missed).toBe(missed)
  })

  it('a policy catches up with all of the last day, and with one however late, unless said', () => {
    expect(takePolicy({ missed: 'all' }).catchUp).toBe(limits.catchUpMs)
    expect(takePolicy({ missed: 'once' })).not.toHaveProperty('catchUp')
    expect(takePolicy({ missed: 'once', catchUp: '1h' }).catchUp).toBe(3_600_000)
    expect(takePolicy({ jitter: '30s' }).jitter).toBe(30_000)
  })

  it.each<[PolicyOptions | unknown, string, string]>([
    [{ overlap: 'BufferAll' }, 'OPTION_INVALID', "use 'queueOne'"],
    [{ overlap: 'never' }, 'OPTION_INVALID', "one of 'forbid', 'replace', 'queueOne', 'allow', got 'never'"],
    [{ overlap: '' }, 'OPTION_INVALID', "got ''"],
    [{ overlap: 'toString' }, 'OPTION_INVALID', "got 'toString'"],
    [{ overlap: null }, 'OPTION_INVALID', 'got null'],
    [{ missed: 'later' }, 'OPTION_INVALID', "one of 'skip', 'once', 'all', got 'later'"],
    [{ missed: 'skip', catchUp: '1h' }, 'OPTION_INVALID', "no effect with missed: 'skip'"],
    [{ catchUp: '4000d' }, 'OPTION_INVALID', 'catchUp'],
    [{ catchUp: -1 }, 'DURATION_INVALID', '-1'],
    [{ jitter: '2d' }, 'OPTION_INVALID', 'jitter'],
    [{ jitter: 'a bit' }, 'DURATION_INVALID', 'a bit'],
    [7, 'OPTION_INVALID', 'an object'],
  ])('a policy is refused: %j', (given, code, said) => {
    expect(() => takePolicy(given as PolicyOptions)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(said) }))
  })
})
