// The bytes that both sides know as blob n: from none to a few hundred thousand, no two alike.

export const blobOf = (n: number): Uint8Array => Buffer.alloc(n === 0 ? 0 : 32 + ((n * 7919) % 40) * 10_000, `blob ${n}, `)
