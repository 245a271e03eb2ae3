// What English words mean in a question about tables, as data. A word that stands in no list, names nothing of the schema
// and is no value of it makes the question refused.

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Number words and their values. */
export const numberWords: ReadonlyMap<string, number> = new Map(
  "zero one two three four five six seven eight nine ten eleven twelve".split(" ").map((
    word,
    at,
  ) => [word, at]),
);

/** "second oldest": how many come before. */
export const ordinals: ReadonlyMap<string, number> = new Map(
  "second third fourth fifth sixth seventh eighth ninth tenth".split(" ").map((word, at) => [word, at + 1]),
);

/** Words that only hold a question together. No word that narrows, inverts or counts stands here. */
export const harmless: ReadonlySet<string> = words(
  "a an the of in on at to for from with by as is are was were be been being am do does did has have had having i we us " +
    "our ours me my you your they them their its he she his her there via that which what who whom whose and please pls can could " +
    "would will should may must let show list give tell display find get fetch see know want print " +
    "look name names s",
);

/** Words that are harmless where something else says what is meant, such as a state or a date. */
export const timely: ReadonlySet<string> = words("still yet already ever currently now so far just been");
/** Words that say that something happened, without saying what. */
export const happenings: ReadonlySet<string> = words(
  "came come comes coming happened happen happens took take takes taking place placed made make makes created occurred " +
    "received recorded registered scheduled planned got were held entered done starting start started starts begin",
);
/** "customers who have placed no orders", "tags not used by any post": the noun says what is meant. */
export const lightVerbs: ReadonlySet<string> = words(
  "use used uses using have has had having own owns place placed made make makes get got gets give gave given assigned " +
    "belong belongs belonging exist exists any ever yet been single linked attached connected associated",
);
/** Verbs that mean the link itself between a row and what it belongs to. */
export const linkVerbs: ReadonlySet<string> = words(
  "work works working worked live lives living lived located based belong belongs belonging go goes going went come comes " +
    "came take takes placed made written wrote write writes run runs held taught teach teaches assigned issued done sent " +
    "posted booked owned owns own sold bought about offer offers offered called named titled contain contains containing include includes including stored handled",
);
export const negations: ReadonlySet<string> = words(
  "not no never without nobody none neither nor lacking missing lack lacks",
);
/** Negations of a value. */
export const exceptions: readonly string[] = [
  "apart from",
  "other than",
  "except for",
  "except",
  "excluding",
  "besides",
];

/** Words that alone never name a table, a column or a value. */
export const cues: ReadonlySet<string> = words(
  [...harmless, ...timely, ...negations].join(" ") +
    " how many much number count all any each every per than between more less fewer over above under below before after " +
    "since until during or most least top bottom first last next both only average avg mean sum total not this these those " +
    "it but",
);

/** What people say → the words in names. */
export const synonyms: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    cost: "price cost amount fee",
    costs: "price cost amount fee",
    priced: "price",
    earn: "salary wage income pay",
    earns: "salary wage income pay",
    earned: "salary wage income pay",
    earning: "salary wage income pay",
    wage: "salary",
    born: "birth dob birthday birthdate",
    birthday: "birth dob",
    joined: "hire signup registered joined",
    employed: "hire",
    registered: "registered signup created",
    signed: "signup signed",
    client: "customer",
    clients: "customer",
    buyer: "customer",
    buyers: "customer",
    shoppers: "customer",
    employees: "staff",
    staff: "employee",
    instructor: "teacher",
    instructors: "teacher",
    pupil: "student",
    pupils: "student",
    classes: "course",
    physician: "doctor",
    physicians: "doctor",
    drug: "medication medicine",
    drugs: "medication medicine",
    medicine: "medication",
    medicines: "medication",
    visit: "appointment",
    visits: "appointment",
    bill: "invoice",
    bills: "invoice",
    mark: "score",
    marks: "score",
    purchase: "order",
    purchases: "order",
    bought: "purchased ordered order",
    purchased: "bought ordered order",
    sold: "bought purchased",
    loaned: "borrowed lent",
    borrowed: "loaned lent loan",
    lent: "loaned borrowed",
    mail: "email",
    phone: "telephone",
    town: "city",
    nation: "country",
    inventory: "stock",
    dosage: "dose",
    dosages: "dose",
    length: "duration",
    stars: "rating",
  }).map(([word, names]) => [word, names.split(" ")]),
);

/** Words in names of columns that nobody says: units, prepositions, marks of a type. */
export const silentWords: ReadonlySet<string> = words(
  "at on until min mg kg usd eur cents cent cm km m g grams ms sec pct c date is has utc code id",
);

/** Words of an address or a number that only finish a name: "email address", "phone number". */
export const tails: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    address: /mail/i,
    number: /phone|tel|mobile|room/i,
    date: /date|_on$|_at$/i,
    time: /time|_at$|_min$|minutes|_sec$|hours|duration/i,
    cost: /_(cents?|eur|usd)$/i,
    costs: /_(cents?|eur|usd)$/i,
    price: /_(cents?|eur|usd)$/i,
    amount: /_(cents?|eur|usd)$/i,
    fee: /_(cents?|eur|usd)$/i,
  }),
);

/** Words that say which of two references to one table is meant. */
export const roles: readonly (readonly [said: RegExp, columns: RegExp])[] = [
  [
    /^(from|leaving|left|out|departing|sent|sends|dispatched|origin|originating)$/,
    /^(from|origin|source|src|sender|departure|start|old|previous|seller|giver)$/,
  ],
  [
    /^(to|into|towards|reaching|arriving|received|receive|receives|destined|destination)$/,
    /^(to|destination|dest|target|receiver|recipient|arrival|end|new|next|buyer|taker)$/,
  ],
];

/** Matches names of columns whose values are never shown. */
export const sensitiveName = /pass(word|wd)?|secret|token|hash|salt|api_?key/i;
/** Names of columns that name their row. */
export const labelNames: readonly string[] =
  "name nm title label fullname username displayname subject serial code slug email"
    .split(" ");
