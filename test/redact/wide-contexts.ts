// Thirteen places where an agent meets a secret. Nothing around a secret with a shape says what it is. A secret without one has its name
// beside it, so it cannot stand in CSV.

/** Returns what an agent would record: a value, or a text. */
type Place = (secret: string) => unknown
type NamedPlace = (name: string, secret: string) => unknown

// biome-ignore format: one row a place
export const PLACES: Readonly<Record<string, Place>> = {
  'JSON value': (s) => ({ result: { upstream: s, region: 'eu' } }),
  'JSON key': (s) => ({ seen: { [s]: 3 } }),
  list: (s) => ({ args: ['--push', s, '--quiet'] }),
  'JSON in a string': (s) => ({ body: JSON.stringify({ ok: true, ref: s }) }),
  prose: (s) => `I tried ${s} on the staging box, but it was refused twice.`,
  log: (s) => `2026-03-04 10:11:12,345 [worker-2] INFO client - using ${s} for tenant 7`,
  shell: (s) => `./push.sh --to prod '${s}' && echo done`,
  code: (s) => `const client = new Client("${s}", { retries: 3 })`,
  YAML: (s) => `upstreams:\n  - id: main\n    ref: ${s}\n    weight: 10`,
  Markdown: (s) => `## Setup\n\n- use \`${s}\`\n- restart`,
  CSV: (s) => `id,owner,value\n17,bob,${s}\n18,eve,`,
  path: (s) => `GET /v2/things/${encodeURIComponent(s)}/items HTTP/1.1`,
  query: (s) => `https://api.example.org/v2/things?ref=${encodeURIComponent(s)}&limit=5`,
}

// biome-ignore format: one row a place
export const NAMED_PLACES: Readonly<Record<string, NamedPlace>> = {
  'JSON value': (n, s) => ({ settings: { [n]: s, region: 'eu' } }),
  'JSON key': (n, s) => ({ lines: { [`${n}=${s}`]: 1 } }),
  list: (n, s) => ({ env: [`${n}=${s}`, 'MODE=fast'] }),
  'JSON in a string': (n, s) => ({ body: JSON.stringify({ ok: true, [n]: s }) }),
  prose: (n, s) => `For staging, ${n} is ${s} until Friday.`,
  log: (n, s) => `10:11:12 INFO loaded config {"${n}":"${s}","pool":5}`,
  shell: (n, s) => `export ${n.replaceAll('-', '_')}='${s}' && ./run.sh`,
  code: (n, s) => `settings["${n}"] = "${s}";\nstart(settings);`,
  YAML: (n, s) => `app:\n  ${n}: "${s}"\n  pool: 5`,
  Markdown: (n, s) => `- **${n}**: \`${s}\`\n- restart`,
  path: (n, s) => `GET /v2/things;${n}=${encodeURIComponent(s)}/items HTTP/1.1`,
  query: (n, s) => `https://api.example.org/v2/things?${n}=${encodeURIComponent(s)}&limit=5`,
}

/** The ways in which a command or a text with a form in it is recorded. */
export const RECORDS: readonly ((text: string) => unknown)[] = [
  (text) => text,
  (text) => ({ command: text, exit: 0 }),
  (text) => ({ body: JSON.stringify({ stdout: text, ok: true }) }),
  (text) => `The agent ran this:\n${text}\nand it took 3 seconds.`,
]
