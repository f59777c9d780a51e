// The peer of the words: SQLite's own full-text index with its own ranking, over the same texts, in a file of its own.

import { DatabaseSync } from 'node:sqlite'
import type { ChatText } from '../../test/memory/chat-texts.ts'

export interface Fts5 {
  search(question: string, about?: string): void
  close(): void
}

export function fts5(path: string, texts: Iterable<ChatText>): Fts5 {
  const db = new DatabaseSync(path)
  db.exec('pragma journal_mode = wal')
  db.exec(`create virtual table items using fts5(text, about unindexed, tokenize = 'porter unicode61')`)
  const insert = db.prepare('insert into items(text, about) values (?, ?)')
  db.exec('begin')
  for (const { text, about } of texts) insert.run(text, about)
  db.exec('commit')
  const all = db.prepare('select rowid, text, bm25(items) as score from items where items match ? order by score limit 8')
  const some = db.prepare('select rowid, text, bm25(items) as score from items where items match ? and about = ? order by score limit 8')
  return {
    search: (question, about) => {
      const words = question.split(' ').join(' OR ')
      if (about === undefined) all.all(words)
      else some.all(words, about)
    },
    close: () => db.close(),
  }
}
