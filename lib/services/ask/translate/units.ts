// Units that questions and columns have: what a number in a question is in the unit of the column that it is compared with.
import { splitWords } from "../../schema/search_words.ts";
import type { ColumnFacts } from "../../schema/schema_facts.ts";

/** A unit: what it measures, and how many of the dimension's smallest it is. */
export interface Unit {
  readonly dimension: string;
  readonly factor: number;
  /** Set where the dimension is money and the currency is said. */
  readonly currency: string | null;
}

/** By dimension: words and how many of the base they are. A word in two dimensions would be a guess, so none is. */
const table: readonly (readonly [dimension: string, words: string])[] = [
  [
    "mass",
    "mg=0.001 milligram=0.001 g=1 gram=1 gramme=1 kg=1000 kilo=1000 kilogram=1000 ton=1e6 tonne=1e6 lb=453.59237 oz=28.349523",
  ],
  [
    "length",
    "mm=0.001 cm=0.01 m=1 metre=1 meter=1 km=1000 kilometre=1000 kilometer=1000 mile=1609.344 ft=0.3048 foot=0.3048 inch=0.0254",
  ],
  [
    "time",
    "ms=0.001 millisecond=0.001 sec=1 secs=1 second=1 min=60 mins=60 minute=60 hr=3600 hrs=3600 hour=3600 day=86400 week=604800",
  ],
  ["months", "month=1 year=12"],
  ["volume", "ml=0.001 millilitre=0.001 milliliter=0.001 litre=1 liter=1 m3=1000"],
  ["area", "m2=1 m²=1 sqm=1 km2=1e6 km²=1e6 sqft=0.09290304 hectare=1e4 ha=1e4 acre=4046.8564"],
  ["percent", "%=1 percent=1 pct=1"],
  ["celsius", "c=1 °c=1 celsius=1"],
  ["fahrenheit", "f=1 °f=1 fahrenheit=1"],
  ["bytes", "byte=1 kb=1e3 mb=1e6 gb=1e9 tb=1e12 kib=1024 mib=1048576 gib=1073741824"],
  ["power", "watt=1 w=1 kw=1000 kilowatt=1000 mw=1e6"],
  ["energy", "wh=1 kwh=1000 mwh=1e6"],
  ["money", "cent=1 ct=1"],
];
const currencies: readonly (readonly [currency: string, words: string])[] = [
  ["euro", "€ eur euro"],
  ["dollar", "$ usd dollar buck"],
  ["pound", "£ gbp"],
];

const units: ReadonlyMap<string, Unit> = new Map([
  ...table.flatMap(([dimension, words]) =>
    words.split(" ").flatMap((entry): [string, Unit][] => {
      const [word = "", factor] = entry.split("=");
      const unit: Unit = { dimension, factor: Number(factor), currency: null };
      return word.length > 2 ? [[word, unit], [`${word}s`, unit]] : [[word, unit]];
    })
  ),
  ...currencies.flatMap(([currency, words]) =>
    words.split(" ").flatMap((word): [string, Unit][] =>
      [word, `${word}s`].map((one) => [one, { dimension: "money", factor: 100, currency }])
    )
  ),
  ["feet", { dimension: "length", factor: 0.3048, currency: null }],
  ["inches", { dimension: "length", factor: 0.0254, currency: null }],
]);
/** Marks at the end of a name that would be too short to be understood in a question. */
const suffixes: Readonly<Record<string, string>> = {
  s: "sec",
  h: "hour",
  l: "litre",
  b: "byte",
  t: "ton",
  wh: "wh",
};
/** What names say of money, and a value of money in whole units where no cents are named. */
const moneyName = /^(price|cost|fee|amount|salary|wage|revenue|budget|balance|payment|rate|fine|total)$/;

/** The unit of a word of a question; null where it is none. */
export function unitOf(word: string): Unit | null {
  return units.get(word) ?? null;
}

/** The unit of two words: "square metres" are no metres. */
export function unitOfWords(before: string, word: string): Unit | null {
  const unit = unitOf(word);
  if (unit?.dimension !== "length" || !/^(square|sq|cubic|cu)$/.test(before)) return unit;
  if (before.startsWith("cu")) return null;
  return { dimension: "area", factor: Number((unit.factor ** 2).toPrecision(9)), currency: null };
}

/** The unit that a column's name or description says its numbers have; null where they say none. */
export function unitOfColumn({ name, description }: ColumnFacts): Unit | null {
  const words = splitWords(name);
  const last = words.at(-1) ?? "";
  const said = /\bin ((?:[a-z]+ )?)([a-z]+)\b/gi;
  for (const [, before = "", word = ""] of description.matchAll(said)) {
    const unit = unitOfWords(before.trim().toLowerCase(), word.toLowerCase());
    if (unit) {
      return { ...unit, currency: unit.currency ?? unitOf(before.trim().toLowerCase())?.currency ?? null };
    }
  }
  if (words.length === 1 && last.length < 3) return null;
  return unitOf(words.length > 1 ? suffixes[last] ?? last : last);
}

/** A whole word for the unit of a column; null where its name and description say none, or none has such a word. */
export function unitWord(column: ColumnFacts): string | null {
  const own = unitOfColumn(column);
  const isOwn = (word: string, { dimension, factor, currency }: Unit) =>
    word.length > 3 && dimension === own?.dimension && factor === own.factor &&
    (own.currency === null || currency === own.currency);
  return [...units].find(([word, unit]) => isOwn(word, unit))?.[0] ?? null;
}

/** Whether a name speaks of money at all. */
function isMoney(column: ColumnFacts): boolean {
  return unitOfColumn(column)?.dimension === "money" ||
    splitWords(column.name).some((word) => moneyName.test(word));
}

/**
 * A number of a question in the unit of a column. Null where the two cannot be compared: another dimension or currency,
 * or a unit that only one of them has.
 */
export function inUnitOf(column: ColumnFacts, value: number, unit: Unit | null): number | null {
  const own = unitOfColumn(column);
  if (unit === null) return own === null || isPlain(own) ? value : null;
  if (own === null) return unit.dimension === "money" && unit.currency && isMoney(column) ? value : null;
  if (own.dimension !== unit.dimension) return null;
  if (own.currency && unit.currency && own.currency !== unit.currency) return null;
  return Number((value * unit.factor / own.factor).toPrecision(12));
}

/** Nobody says the unit of these. */
function isPlain({ dimension }: Unit): boolean {
  return dimension === "percent" || dimension === "celsius";
}
