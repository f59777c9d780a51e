// Words that say too little to search by. Negations are not among them: "does not eat meat" differs from "eats meat".

export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an the this that these those some any each such own same other another ' +
    'i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers herself it its itself ' +
    'they them their theirs themselves one ' +
    'am is are was were be been being do does did doing done have has had having will would shall should can could may might must ' +
    'and or but nor so yet if then than as because while although though unless until since ' +
    'of at by for with about against between into through during before after above below to from up down in out on off over under ' +
    'again further once here there when where why how what which who whom whose ' +
    'just only also too very really quite still already even ever much many more most few less least ' +
    's t d ll m re ve y u ' +
    'let get gets got please tell know remember ok okay yes oh well hey hi thanks thank'
  ).split(' '),
)
