// Irregular forms and their base: no rule leads from "went" to "go".

const GROUPS =
  'go went gone goes|eat ate eaten|drink drank drunk|buy bought|bring brought|think thought|teach taught|catch caught|fight fought|' +
  'seek sought|see saw seen|say said|make made|take took taken|give gave given|come came|become became|find found|leave left|' +
  'feel felt|keep kept|sleep slept|meet met|lead led|read|write wrote written|ride rode ridden|drive drove driven|rise rose risen|' +
  'choose chose chosen|speak spoke spoken|break broke broken|wake woke woken|steal stole stolen|freeze froze frozen|' +
  'begin began begun|swim swam swum|sing sang sung|ring rang rung|run ran|sit sat|stand stood|understand understood|win won|' +
  'lose lost|send sent|spend spent|lend lent|build built|hold held|tell told|sell sold|pay paid|lay laid|hear heard|mean meant|' +
  'deal dealt|know knew known|grow grew grown|throw threw thrown|fly flew flown|draw drew drawn|show shown|wear wore worn|' +
  'bear bore borne|tear tore torn|swear swore sworn|forget forgot forgotten|hide hid hidden|bite bit bitten|fall fell fallen|' +
  'shoot shot|stick stuck|hang hung|dig dug|light lit|feed fed|bleed bled|breed bred|shine shone|forgive forgave forgiven|' +
  'child children|man men|woman women|person people|foot feet|tooth teeth|mouse mice|goose geese|wife wives|life lives|' +
  'knife knives|leaf leaves|half halves|wolf wolves|shelf shelves|good better best|bad worse worst'

// "left" and "saw" are also other words, and a rare confusion costs less than a missed form.
const BASES: ReadonlyMap<string, string> = new Map(
  GROUPS.split('|').flatMap((group) => {
    const [base = '', ...forms] = group.split(' ')
    return forms.map((form) => [form, base] as const)
  }),
)

export const baseForm = (word: string): string => BASES.get(word) ?? word
