// Words that compare: "more than", "heavier", "cheapest", and which columns they are about. All of it is data.

/** What an adjective is about. */
export interface Scale {
  /** Words in names or descriptions of the column, in the order in which they are tried. */
  readonly names: readonly string[];
  /** The dimension of its unit, where it has one. */
  readonly dimension: string | null;
  /** Whether it is about a date; the later one is "more" of it but for ages. */
  readonly date: "moment" | "birth" | null;
}

const scale = (names: string, dimension: string | null = null, date: Scale["date"] = null): Scale => ({
  dimension,
  date,
  names: names === "" ? [] : names.split(" "),
});

const money = scale("price cost amount fee rate total value", "money");
const length = scale("duration length minutes pages runtime distance", "time");
const weight = scale("weight", "mass");
const height = scale("height", "length");
const size = scale("seats capacity size area population employees amount total value");
const age = scale("birth dob birthday birthdate age", null, "birth");
const moment = scale("", null, "moment");
const any = scale("");
const grade = scale("rating score stars gpa grade");

/** Adjectives: the comparative, the superlative, what they are about, and whether they mean more of it. */
const adjectives: readonly (readonly [than: string, most: string, about: Scale, more: boolean])[] = [
  ["higher", "highest", any, true],
  ["greater", "greatest", any, true],
  ["larger", "largest", size, true],
  ["bigger", "biggest", size, true],
  ["lower", "lowest", any, false],
  ["smaller", "smallest", size, false],
  ["", "maximum", any, true],
  ["", "max", any, true],
  ["", "minimum", any, false],
  ["", "min", any, false],
  ["better", "best", grade, true],
  ["worse", "worst", grade, false],
  ["cheaper", "cheapest", money, false],
  ["pricier", "priciest", money, true],
  ["dearer", "dearest", money, true],
  ["longer", "longest", length, true],
  ["shorter", "shortest", length, false],
  ["heavier", "heaviest", weight, true],
  ["lighter", "lightest", weight, false],
  ["taller", "tallest", height, true],
  ["older", "oldest", age, false],
  ["younger", "youngest", age, true],
  ["newer", "newest", moment, true],
  ["later", "latest", moment, true],
  ["", "recent", moment, true],
  ["earlier", "earliest", moment, false],
  ["warmer", "warmest", scale("temperature", "celsius"), true],
  ["colder", "coldest", scale("temperature", "celsius"), false],
];

/** An adjective's direction. */
export interface Grade {
  readonly about: Scale;
  readonly more: boolean;
}

export const comparatives: ReadonlyMap<string, Grade> = new Map(
  adjectives.map(([than, , about, more]) => [than, { about, more }]),
);
export const superlatives: ReadonlyMap<string, Grade> = new Map(
  adjectives.map(([, most, about, more]) => [most, { about, more }]),
);
/** After "more", "most" and "least". */
export const gradable: ReadonlyMap<string, Scale> = new Map([
  ["expensive", money],
  ["costly", money],
  ["recent", moment],
  ["recently", moment],
]);
/** Verbs in front of a number with a unit: "cost less than", "weigh more than". */
export const measuringVerbs: ReadonlyMap<string, Scale> = new Map([
  ...["cost", "costs", "costing", "priced"].map((word): [string, Scale] => [word, money]),
  ...["weigh", "weighs", "weighing"].map((word): [string, Scale] => [word, weight]),
  ...["take", "takes", "took", "taking", "last", "lasts", "lasting", "lasted", "run", "runs"].map((
    word,
  ): [string, Scale] => [word, scale("duration minutes time", "time")]),
  ...["travel", "travels", "drive", "drives", "go", "goes"].map((word): [string, Scale] => [
    word,
    scale("distance", "length"),
  ]),
]);

/** Comparisons with a number; longer phrases first. */
export const comparisons: readonly (readonly [phrase: string, operator: string])[] = [
  ["greater than or equal to", ">="],
  ["less than or equal to", "<="],
  ["no more than", "<="],
  ["not more than", "<="],
  ["no less than", ">="],
  ["no fewer than", ">="],
  ["not less than", ">="],
  ["more than", ">"],
  ["less than", "<"],
  ["fewer than", "<"],
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
/** Behind the number: "an hour or more". */
export const trailing: readonly (readonly [phrase: string, operator: string])[] = [
  ["or more", ">="],
  ["or longer", ">="],
  ["or older", ">="],
  ["or above", ">="],
  ["or higher", ">="],
  ["and up", ">="],
  ["or less", "<="],
  ["or fewer", "<="],
  ["or shorter", "<="],
  ["or below", "<="],
  ["or lower", "<="],
];
