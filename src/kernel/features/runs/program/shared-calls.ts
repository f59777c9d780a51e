// Calls underway, shared by all handles on the same run in this process: two handles that ask for the same get the same outcome.

import type { Entry } from '../tape/tape.ts'
import { RaceAppends } from './race-appends.ts'

export class Underway extends Map<string, Promise<Entry>> {
  readonly raceAppends = new RaceAppends()

  /** Forgets the calls of earlier epochs. Those without an answer belong to branches that lost a race, and are never answered. */
  startEpoch(epoch: number): void {
    this.clear()
    this.raceAppends.startEpoch(epoch)
  }
}
