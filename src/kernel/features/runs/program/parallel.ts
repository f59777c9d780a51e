// Runs several branches of a run at once: all of them (`all`), or the first to return (`race`).

import { refuse } from '../../../../model/errors.ts'
import { invalidOption } from '../../../../model/options.ts'
import { takeBranch } from '../../../naming/names.ts'
import { isTheRuns } from '../writing/transient-error.ts'
import type { BranchHandle } from './branch.ts'
import type { All, Branch, Branches } from './branch-calls.ts'
import { type Asked, entryKey, slotOf } from './call.ts'
import type { LeftAppends } from './race-appends.ts'
import { leaveWaits } from './wait.ts'

interface Forked {
  readonly name: string
  /** The name as it is recorded, with secrets masked. */
  readonly label: string
  readonly work: (branch: Branch) => unknown
  readonly branch: BranchHandle
  /** Abandons the branch. */
  leave(): void
  /** The branch has returned. */
  end(): void
}

export async function allOf<B extends Branches>(parent: BranchHandle, branches: B): Promise<All<B>> {
  checkPlaces(branches)
  const group = fork(parent, branches, parent.nextGroup())
  // All branches end before a failure is thrown, so that nothing goes on behind the caller that catches it.
  const came = await parent.open.calls.during('all()', parent.place, () => Promise.all(group.map(comeBack)))
  for (const { branch } of group) parent.learn(branch.now())
  for (const one of came) if ('error' in one) throw one.error
  const values = came.map((one) => ('value' in one ? one.value : undefined))
  return Object.assign([...values], Object.fromEntries(group.map(({ name }, i) => [name, values[i]]))) as unknown as All<B>
}

export async function raceOf<B extends Branches>(parent: BranchHandle, branches: B): Promise<Awaited<ReturnType<B[keyof B]>>> {
  const asked = parent.slot('race', 'race')
  const number = parent.nextGroup()
  return parent.open.calls.during('race()', parent.place, () => raced(parent, asked, number, branches))
}

async function raced<B extends Branches>(
  parent: BranchHandle,
  asked: Asked,
  number: number,
  branches: B,
): Promise<Awaited<ReturnType<B[keyof B]>>> {
  const { open } = parent
  await open.ready()
  const known = await open.replay.find(asked)
  const group = fork(parent, branches, number)
  const recorded = known?.outcome?.winner as string | undefined
  if (recorded !== undefined && !group.some(({ label }) => label === recorded)) {
    for (const one of group) one.leave()
    const diff = `- recorded: race won by branch '${recorded}' (seq ${known?.seq})\n+ asked for: branches ${group.map(({ label }) => `'${label}'`).join(', ')}`
    throw open.diverged(diff)
  }
  const leaveOthers = async (winner: string) => {
    for (const one of group) {
      if (one.label === winner) continue
      one.leave()
      await open.replay.leave(one.branch.place)
    }
    await leaveWaits(open)
  }
  if (recorded !== undefined) {
    open.leaveAppends((known?.outcome?.appended ?? []) as readonly LeftAppends[], parent.epoch)
    await leaveOthers(recorded)
  }
  // The first branch to return has won, also with a failure.
  const coming = new Map(group.filter(({ label }) => recorded === undefined || label === recorded).map((one) => [one.label, comeBack(one)]))
  let won = await Promise.race(coming.values())
  // An outage of the store is not an outcome, so no branch has won.
  if ('error' in won && !isTheRuns(won.error)) throw won.error
  if (recorded === undefined) {
    await open.replay.clear(asked)
    // Two handles on one run have the same winner: the first one that is recorded.
    const { outcome } = await open.once(entryKey(asked), async () => {
      const losers = group.filter(({ label }) => label !== won.label).map(({ branch }) => branch.place)
      const { seq } = await open.raceAppends.decide(losers, (appended) =>
        open.record({ type: 'race.won', data: { ...slotOf(asked), winner: won.label, ...(appended.length > 0 && { appended }) } }),
      )
      return { ...asked, seq, at: won.branch.now(), done: true, outcome: { winner: won.label } }
    })
    won = (await coming.get(outcome?.winner as string)) ?? won
    await leaveOthers(won.label)
  }
  parent.learn(won.branch.now())
  open.received++
  if ('error' in won) throw won.error
  return won.value as Awaited<ReturnType<B[keyof B]>>
}

type CameBack = Pick<Forked, 'label' | 'branch'> & ({ readonly value: unknown } | { readonly error: unknown })

async function comeBack({ label, branch, work, end }: Forked): Promise<CameBack> {
  try {
    const { context } = branch.open.scope.engine.environment
    // A promise that the work returns is awaited in its context too.
    return { label, branch, value: await (context ? context.within(branch, async () => work(branch)) : work(branch)) }
  } catch (error) {
    return { label, branch, error }
  } finally {
    end()
  }
}

/** The result of `all` is a list that also has names. A name that looks like an index must be that index. */
function checkPlaces(branches: Branches): void {
  if (typeof branches !== 'object' || branches === null) return
  for (const [i, name] of Object.keys(branches).entries()) {
    if (name !== 'length' && (name === String(i) || !/^(0|[1-9]\d*)$/.test(name))) continue
    throw refuse('OPTION_INVALID', {
      option: 'branches',
      why: `'${name}' cannot name a branch, because the result of all() is also an array`,
    })
  }
}

/** Each group of branches has a number of its own. */
function fork<B extends Branches>(parent: BranchHandle, branches: B, number: number): readonly Forked[] {
  if (typeof branches !== 'object' || branches === null || Object.keys(branches).length === 0)
    throw invalidOption('branches', 'an object of named functions', branches)
  const { open } = parent
  const named = Object.entries(branches).map(([name, work]) => {
    if (typeof work !== 'function') throw invalidOption(`branches.${name}`, 'a function', work)
    return { name, work, label: takeBranch(open.scope, name) }
  })
  // Branches begin only after all of them are checked, because a branch that has begun is waited for.
  return named.map(({ name, work, label }) => {
    const path = `${parent.path}${parent.path === '' ? '' : '/'}${number}.${label}`
    const leaving = new AbortController()
    const follow = () => leaving.abort(parent.leaving.reason)
    if (parent.leaving.aborted) follow()
    else parent.leaving.addEventListener('abort', follow, { once: true })
    const end = () => {
      parent.leaving.removeEventListener('abort', follow)
      open.parking.ends(path)
    }
    const leave = () => {
      end()
      leaving.abort(refuse('ABORTED', {}))
    }
    open.parking.begins(path)
    return { name, label, work, leave, end, branch: parent.branchOff(path, leaving.signal) }
  })
}
