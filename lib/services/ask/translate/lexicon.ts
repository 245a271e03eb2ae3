// What English words mean in a question about tables, as data.

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Number words and their values. */
export const numberWords: ReadonlyMap<string, number> = new Map(
  "zero one two three four five six seven eight nine ten eleven twelve".split(" ").map((
    word,
    at,
  ) => [word, at]),
);

/** Words without a condition: a question may contain them and still be understood completely. */
export const fillers: ReadonlySet<string> = words(
  "a an the of in on at to for from with by as is are was were be been being am do does did done have has had having " +
    "i we our us me my you your they them their it its he she his her him there here this that these those which what " +
    "who whom whose when where how why please can could would should will shall may might must let give show list " +
    "display find get fetch return tell see print name names many much number count and or also all any every each per some " +
    "currently now so far ever yet already just only both total overall altogether entire whole different distinct " +
    "unique various sort sorted order ordered rank ranked ranking group grouped broken down split place placed made make " +
    "belong belongs belonging live lives living located based come comes coming work works working exist exists " +
    "registered record records recorded row rows entry entries stored database system data information details info " +
    "available offer offers offered offering contain contains containing include includes including use used using " +
    "take takes taken taking enrolled enroll attend attends attending sell sold selling sells buy bought buys " +
    "happen happened occur occurred need needs want seen see sees worth cost costs values value amount amounts go goes " +
    "than then between first last one ones people person persons kind kinds type types sort sorts time times unit " +
    "units piece pieces item items most least top bottom more less fewer over above under below before after since until " +
    "during within ago day days week weeks month months year years up out off back into about against address " +
    "written wrote write writes borrowed borrow received receive sent send got read worked assigned handled visited ran " +
    "held studied anything something everything anyone minutes minute hours hour seconds priced called named titled equal equals exactly greater higher lower not no without never none do-not don't " +
    "doesn't didn't haven't hasn't isn't aren't wasn't weren't if while still compared versus vs across among",
);

/** Words that alone never name a table or a column. */
export const cues: ReadonlySet<string> = words(
  "a an the of in on at to for from with by as is are was were be been do does did have has had i we our us me my you " +
    "your they their it its there this that these those which what who whom whose when where how please can many much " +
    "number count and or all any each every per than between more less fewer over above under below before after since " +
    "until during within not no without never average avg mean sum total most least top show list give find get",
);

/** What people say → the words in names. */
export const synonyms: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    cost: "price amount fee",
    costs: "price amount fee",
    priced: "price",
    pricey: "price",
    earn: "salary wage income pay",
    earns: "salary wage income pay",
    earned: "salary wage income pay",
    pay: "salary wage amount",
    paid: "salary wage",
    wage: "salary",
    income: "salary",
    born: "birth dob birthday birthdate",
    birthday: "birth dob",
    joined: "joined hire signup registered start created",
    employed: "hire",
    started: "start starts hire",
    registered: "registered signup created",
    signed: "signup",
    client: "customer",
    clients: "customer",
    buyer: "customer",
    buyers: "customer",
    shoppers: "customer",
    employees: "employee staff teacher",
    instructor: "teacher",
    instructors: "teacher",
    pupil: "student",
    pupils: "student",
    class: "course",
    classes: "course",
    physician: "doctor",
    physicians: "doctor",
    drug: "medication medicine",
    drugs: "medication medicine",
    medicine: "medication",
    medicines: "medication",
    visit: "appointment visit",
    visits: "appointment visit",
    bill: "invoice",
    bills: "invoice",
    mark: "score",
    marks: "score",
    purchase: "order purchase",
    purchases: "order purchase",
    bought: "order purchase",
    purchased: "order purchase",
    long: "duration length minutes",
    longer: "duration length minutes",
    shorter: "duration length minutes",
    rating: "rating score stars",
    mail: "email",
    phone: "phone telephone",
    town: "city",
    nation: "country",
    inventory: "stock quantity",
    dosage: "dose",
    dosages: "dose",
    length: "duration length",
  }).map(([word, names]) => [word, names.split(" ")]),
);

/** Words in names of columns that nobody says: units, prepositions, marks of a type. */
export const silentWords: ReadonlySet<string> = words(
  "at on min mg kg usd eur cents cm km ms sec date is has utc code",
);

/** What a word such as "cheapest" asks for. */
export interface Superlative {
  readonly descending: boolean;
  /** Words in the name of the column that it is about; empty: any number. */
  readonly hints: readonly string[];
  /** Whether it is about a date; then `descending` means the latest first. */
  readonly date: boolean;
}

const rank = (descending: boolean, hints = "", date = false): Superlative => ({
  descending,
  date,
  hints: hints === "" ? [] : hints.split(" "),
});

/** Superlatives by their word. */
export const superlatives: ReadonlyMap<string, Superlative> = new Map(Object.entries({
  highest: rank(true),
  largest: rank(true),
  biggest: rank(true),
  greatest: rank(true),
  maximum: rank(true),
  max: rank(true),
  maximal: rank(true),
  best: rank(true, "rating score gpa grade"),
  lowest: rank(false),
  smallest: rank(false),
  minimum: rank(false),
  min: rank(false),
  minimal: rank(false),
  worst: rank(false, "rating score gpa grade"),
  cheapest: rank(false, "price cost amount fee"),
  priciest: rank(true, "price cost amount fee"),
  dearest: rank(true, "price cost amount fee"),
  richest: rank(true, "salary balance income wealth"),
  longest: rank(true, "duration length minutes hours days pages"),
  shortest: rank(false, "duration length minutes hours height"),
  heaviest: rank(true, "weight"),
  lightest: rank(false, "weight"),
  tallest: rank(true, "height"),
  oldest: rank(false, "birth dob birthday birthdate", true),
  youngest: rank(true, "birth dob birthday birthdate", true),
  newest: rank(true, "", true),
  latest: rank(true, "", true),
  recent: rank(true, "", true),
  recently: rank(true, "", true),
  earliest: rank(false, "", true),
}));

/** The column that an adjective after "most" and "least" is about. "most recent" is above. */
export const gradable: ReadonlyMap<string, readonly string[]> = new Map(Object.entries({
  expensive: ["price", "cost", "amount", "fee"],
  costly: ["price", "cost", "amount", "fee"],
  valuable: ["price", "value", "amount"],
  popular: [],
}));

/** Comparisons with a number or a date; longer phrases first. */
export const comparisons: readonly (readonly [phrase: string, operator: string])[] = [
  ["greater than or equal to", ">="],
  ["less than or equal to", "<="],
  ["no more than", "<="],
  ["not more than", "<="],
  ["no less than", ">="],
  ["no fewer than", ">="],
  ["not less than", ">="],
  ["more than", ">"],
  ["greater than", ">"],
  ["higher than", ">"],
  ["larger than", ">"],
  ["bigger than", ">"],
  ["longer than", ">"],
  ["less than", "<"],
  ["lower than", "<"],
  ["fewer than", "<"],
  ["smaller than", "<"],
  ["shorter than", "<"],
  ["cheaper than", "<"],
  ["at least", ">="],
  ["at most", "<="],
  ["up to", "<="],
  ["equal to", "="],
  ["exactly", "="],
  ["above", ">"],
  ["over", ">"],
  ["exceeding", ">"],
  ["exceeds", ">"],
  [">=", ">="],
  ["<=", "<="],
  [">", ">"],
  ["<", "<"],
  ["=", "="],
  ["below", "<"],
  ["under", "<"],
];

/** Words for money and size, in the order in which they are tried when nothing is named. */
export const measureNames: readonly string[] = "amount total price value cost salary score quantity".split(
  " ",
);
/** Names of columns that name their row. */
export const labelNames: readonly string[] = "name title label fullname username subject code slug email"
  .split(" ");
/** Matches names of columns whose values are never shown. */
export const sensitiveName = /pass(word|wd)?|secret|token|hash|salt|api_?key/i;
