// AssemblyScript: products of int8 rows with an int16 query, by SIMD. `npx node scripts/wasm.ts` compiles it into src/vector-dots.ts.
// One row at a time, 32 codes a step, four sums; rows and query are padded to 32 codes.

export function dots(codes: usize, stride: usize, rows: usize, query: usize, out: usize): void {
  for (let row: usize = 0; row < rows; row++) {
    let a = i32x4.splat(0)
    let b = i32x4.splat(0)
    let c = i32x4.splat(0)
    let d = i32x4.splat(0)
    for (let i: usize = 0; i < stride; i += 32) {
      const low = v128.load(codes + i)
      const high = v128.load(codes + i, 16)
      const q = query + (i << 1)
      a = i32x4.add(a, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(low), v128.load(q)))
      b = i32x4.add(b, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(low), v128.load(q, 16)))
      c = i32x4.add(c, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(high), v128.load(q, 32)))
      d = i32x4.add(d, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(high), v128.load(q, 48)))
    }
    const sum = i32x4.add(i32x4.add(a, b), i32x4.add(c, d))
    const total = i32x4.extract_lane(sum, 0) + i32x4.extract_lane(sum, 1) + i32x4.extract_lane(sum, 2) + i32x4.extract_lane(sum, 3)
    store<i32>(out + (row << 2), total)
    codes += stride
  }
}
