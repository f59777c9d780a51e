// Reads the arguments of a command, and tells which of them are secret: `['deploy', '--password', '…']`.
import type { KeyJudge } from './keys.ts'
import { absentWord, passwordLike } from './looks.ts'
import type { KeyKind } from './words.ts'

/** Tools whose short option takes a password as the next argument. Elsewhere `-p` is a port or a path. */
const APART = tools('p: sshpass mongosh mongodump mongorestore docker podman az a: redis-cli P: zip unzip sqlcmd w: ldapsearch ldapmodify')
/** Tools whose short option has the password in the same argument. */
const JOINED = tools('p: mysql mysqldump mysqladmin mariadb mariadb-dump sshpass 7z 7za rar unrar')
const LONGEST_TOOL = 12
const LONGEST_FLAG = 62
const FLAG = /^--?([A-Za-z][\w-]{1,60})$/
const DASH = 45

export class Arguments {
  readonly #judge: KeyJudge
  #apart = ''
  #joined = ''
  /** The kind that the last argument gives to the next. */
  #next: KeyKind = 'none'

  constructor(judge: KeyJudge) {
    this.#judge = judge
  }

  /** The kind that the next argument could have. */
  get pending(): KeyKind {
    return this.#next === 'none' && this.#joined !== '' ? 'all' : this.#next
  }

  /** Returns the kind of the next argument. */
  kind(value: unknown): KeyKind {
    const said = this.#next
    this.#next = 'none'
    if (typeof value === 'number') return said
    if (typeof value !== 'string') return 'none'
    if (value.charCodeAt(0) === DASH) return this.#option(value, said)
    if (said !== 'none') return absentWord(value) || (said === 'text' && /^\d+$/.test(value)) ? 'none' : said
    if (value.length <= LONGEST_TOOL) {
      // `docker run -p` maps a port, `docker login -p` takes a password.
      if (value === 'run' || value === 'create') this.#apart = ''
      this.#apart = APART.get(value) ?? this.#apart
      this.#joined = JOINED.get(value) ?? this.#joined
    }
    return 'none'
  }

  #option(value: string, said: KeyKind): KeyKind {
    if (value.length === 2) {
      if (this.#apart === value[1]) this.#next = 'all'
      return 'none'
    }
    if (this.#joined !== '' && value[1] === this.#joined && !FLAG_VALUE.test(value)) return 'all'
    const name = value.length <= LONGEST_FLAG ? FLAG.exec(value)?.[1] : undefined
    const kind = name === undefined ? 'none' : this.#judge(name)
    if (kind === 'all' || kind === 'text' || kind === 'auth') this.#next = kind
    // A password may begin with a dash.
    return this.#next === 'none' && said !== 'none' && passwordLike(value) ? said : 'none'
  }
}

/** `-p$PASSWORD`, `-p<password>`. */
const FLAG_VALUE = /^-.(?:\$[A-Z_{(]|<|\{\{|\*{3})/

function tools(list: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  let short = ''
  for (const word of list.split(' ')) {
    if (word.endsWith(':')) short = word.slice(0, -1)
    else found.set(word, short)
  }
  return found
}
