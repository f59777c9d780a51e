// Answers of a model in the kinds of text that agents write most. None of them names a secret, so a stream holds back their last word at most.

export interface Language {
  readonly name: string
  readonly text: string
  /** Directly before and after a secret, without a space. */
  readonly around: readonly [string, string]
}

const user = (id: number) => ({
  id,
  name: `Ada ${id}`,
  tags: ['a', 'b-c'],
  at: '2026-02-03T10:20:30Z',
  score: 1.5e3,
  data: { city: 'Lisbon' },
})

export const LANGUAGES: readonly Language[] = [
  {
    name: 'English',
    text: 'The build went on for a while, and nobody minded; the tests (all 1,204 of them) were slow. “Fine,” she said. See https://example.com/a?b=c, then run it again. Nothing else changed. ',
    around: ['see (', '), please'],
  },
  {
    name: 'Chinese',
    text: '人工智能的发展已经走过了几十年的历程。最早的研究者希望机器能够像人一样思考，如今的模型已经可以写作、翻译和编程。详见 https://example.com/docs，或者运行「npm test」；结果有 1,204 行（全部通过）。',
    around: ['我们使用的是', '，请妥善保管'],
  },
  {
    name: 'Japanese',
    text: 'ビルドはしばらく続きましたが、誰もテストが遅いことを気にしませんでした。今日のモデルは文章を書いたり、翻訳したりできます。詳しくは「example.com」をご覧ください（全１２０４件）。',
    around: ['次の「', '」を使います'],
  },
  {
    name: 'Thai',
    text: 'ปัญญาประดิษฐ์พัฒนามาหลายสิบปีแล้วโมเดลในปัจจุบันสามารถเขียนแปลและเขียนโปรแกรมได้ น้ำท่วมที่นี่ทุกปีกรุณาเรียกใช้ npm test อีกครั้งแล้วดูผลลัพธ์ทั้งหมด',
    around: ['ใช้ค่าที่', 'แล้วเริ่มใหม่'],
  },
  {
    name: 'minified JSON',
    text: JSON.stringify({ users: [user(1), user(2)], note: 'line one\nline "two"', done: true, count: 1204 }),
    around: ['{"a":1,"items":["', '",{"b":[true,null]}]}'],
  },
  {
    name: 'code',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is code
    text: 'export const total=(items:readonly Item[])=>items.filter((i)=>i.price>0).reduce((a,b)=>a+b.price*b.count,0);\nif(total(cart)>=100){return `${total(cart)} EUR`}\nfor(const [k,v] of map){out.push(k,v)}\n',
    around: ["call(x,{mode:'", "'},y=>y+1);"],
  },
]
