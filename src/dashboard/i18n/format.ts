// Formats of money, counts and times. Money arrives as a decimal string and is formatted from the string, so that no
// amount passes through binary floating point.

import type { Decimal } from "./decimal.ts";
import { type Language, useLanguage } from "./language.tsx";
import { zoneName } from "./zones.ts";

/** The time zone of billing days. */
const BILLING_ZONE = "Asia/Jakarta";

export type { Decimal } from "./decimal.ts";

const LOCALES = { id: "id-ID", en: "en-GB" } as const satisfies Record<Language, string>;

// TypeScript accepts only numeric literals here; strings from the server are checked once, in exactly().
type NumericText = `${number}`;

const DECIMAL = /^-?\d+(\.\d+)?$/;
/** Shown for an unknown number: it is not zero. */
export const UNKNOWN = "—";

export type Formats = ReturnType<typeof makeFormats>;

type Once<Made> = () => Made;

/** The formats of the chosen language. */
export function useFormats(): Formats {
  return formatsOf(useLanguage().language);
}

/** The formats of a language, made once, because every component uses them. */
export function formatsOf(language: Language): Formats {
  return FORMATS[language]();
}

const FORMATS = {
  id: once(() => makeFormats(LOCALES.id)),
  en: once(() => makeFormats(LOCALES.en)),
} as const satisfies Record<Language, () => unknown>;

function makeFormats(locale: string) {
  // Each is made on first use: making one takes a phone longer than formatting a page of numbers with it.
  const number = (options?: Intl.NumberFormatOptions) => once(() => new Intl.NumberFormat(locale, options));
  const dateTime = (options: Intl.DateTimeFormatOptions) => once(() => new Intl.DateTimeFormat(locale, options));
  const rupiah = (least: number, most: number, more: Intl.NumberFormatOptions = {}) =>
    number({
      style: "currency",
      currency: "IDR",
      currencyDisplay: "narrowSymbol",
      minimumFractionDigits: least,
      maximumFractionDigits: most,
      ...more,
    });
  // A balance is never shown as more than it is.
  const balance = rupiah(2, 2, { roundingMode: "floor", trailingZeroDisplay: "stripIfInteger" });
  const alignedBalance = rupiah(2, 2, { roundingMode: "floor" });
  const whole = rupiah(0, 0, { roundingMode: "floor" });
  const cents = rupiah(2, 2);
  const headline = rupiah(2, 2, { trailingZeroDisplay: "stripIfInteger" });
  const exact = exactRupiah(rupiah);
  const compact = number({ notation: "compact", maximumFractionDigits: 1 });
  // Indonesian "M" means 10⁹: context sizes are formatted in English in both languages.
  const size = once(() => new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 }));
  const count = number();
  const percent = number({ style: "percent", maximumFractionDigits: 1 });
  const rate = number({ style: "percent", maximumFractionDigits: 18 });
  const date = dateTime({ dateStyle: "medium", timeZone: BILLING_ZONE });
  const time = dateTime({ dateStyle: "medium", timeStyle: "medium", timeZone: BILLING_ZONE });
  const near = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZone: BILLING_ZONE } as const;
  const shortTime = dateTime(near);
  const moment = dateTime({ ...near, second: "2-digit" });
  const shortDay = dateTime({ day: "numeric", month: "short", timeZone: "UTC" });
  const month = dateTime({ month: "long", year: "numeric", timeZone: "UTC" });
  const day = dateTime({ day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
  const tick = number({ maximumSignificantDigits: 2 });
  const hundredths = number({ minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const coins = number({ maximumFractionDigits: 20 });
  const plural = once(() => new Intl.PluralRules(locale));
  return {
    /** A balance, or an amount that a person chose: rounded down to a hundredth, without decimals where it has none. */
    rupiah: orUnknown(balance),
    /** A balance in a column: rounded down like every balance, with two decimals for alignment. */
    columnBalance: orUnknown(alignedBalance),
    /** Whole rupiah, rounded down: where there is little room. */
    wholeRupiah: orUnknown(whole),
    /** With two decimals, for alignment in a column; amounts below a hundredth keep the digits that show them. */
    cost: shownWhole(cents, exact),
    /** The same outside of columns, beside balances: without decimals where it has none. */
    headlineCost: shownWhole(headline, exact),
    /** All digits, never with three decimals: "Rp 4.444" is four thousand to one reader, and four to another. */
    exactRupiah: exact,
    /** `12,9 rb`; never for milliseconds. */
    compact: (value: number | bigint): string => compact().format(value),
    /** `1.05M`: context sizes, in both languages. */
    size: (value: number): string => size().format(value),
    /** `0,05`, `5 rb`: the grid lines of a chart. */
    tick: (value: number): string => (value < 1 ? tick : compact)().format(value),
    count: (value: number | bigint): string => count().format(value),
    /** `1 request`, `2 requests`. */
    counted: (value: number | bigint, one: string, other: string): string =>
      `${count().format(value)} ${plural().select(Number(value)) === "one" ? one : other}`,
    percent: (share: number): string => percent().format(share),
    /** A share from a decimal string, with all digits: `0.003` is `0,3%`. */
    rate: (share: Decimal): string => rate().format(exactly(share)),
    /** The day of a moment in another zone, with the name of the zone where it is not the billing zone. */
    dateIn: (at: Date, zone: string): string => {
      if (zone === "" || zone === BILLING_ZONE) return date().format(at);
      return `${dateTime({ dateStyle: "medium", timeZone: zone })().format(at)} (${zoneName(zone)})`;
    },
    /** The day of a moment in the billing zone. */
    date: (at: Date): string => date().format(at),
    /** A moment in the billing zone. */
    time: (at: Date): string => time().format(at),
    /** The same where there is little room: no year, no seconds. */
    shortTime: (at: Date): string => shortTime().format(at),
    /** The same with seconds: requests follow each other closely. */
    moment: (at: Date): string => moment().format(at),
    /** A `YYYY-MM-DD`, which has no zone. */
    day: (text: string): string => day().format(atMidnight(text)),
    /** A `YYYY-MM`. */
    month: (text: string): string => month().format(atMidnight(`${text}-01`)),
    /** A day without its year, below a chart. */
    shortDay: (text: string): string => shortDay().format(atMidnight(text)),
    /** A range of days; a year that both share is shown once. */
    days: (first: string, last: string): string => {
      const isOneYear = first.slice(0, 4) === last.slice(0, 4);
      return `${(isOneYear ? shortDay : day)().format(atMidnight(first))} – ${day().format(atMidnight(last))}`;
    },
    /** `0,52 s`. */
    seconds: (milliseconds: number): string => `${hundredths().format(milliseconds / 1_000)} s`,
    /** `45 menit`: an age, in the largest unit of which there are at least two. */
    age: (seconds: number): string => {
      const [unit, length] = AGES.find(([, each]) => seconds >= 2 * each) ?? SECONDS;
      return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(
        Math.floor(seconds / length),
      );
    },
    /** An amount of a currency, with all digits and its code. */
    coins: (amount: Decimal, currencyCode: string): string => `${coins().format(exactly(amount))} ${currencyCode}`,
  };
}

const SECONDS = ["second", 1] as const;
/** The units of an age with their lengths in seconds. */
const AGES = [["day", 86_400], ["hour", 3_600], ["minute", 60], SECONDS] as const;

function atMidnight(day: string): Date {
  return new Date(`${day}T00:00:00Z`);
}

type Written = (amount: Decimal | undefined) => string;

/** An amount that the format would round to zero is written exactly. */
function shownWhole(format: Once<Intl.NumberFormat>, exact: Written): Written {
  const rounded = orUnknown(format);
  return (amount) => (amount !== undefined && isBelowCent(amount) ? exact : rounded)(amount);
}

/** No decimals, two, or four and more, as many as the amount needs. */
function exactRupiah(rupiah: (least: number, most: number) => Once<Intl.NumberFormat>): Written {
  const [whole, two, four] = [rupiah(0, 0), rupiah(2, 2), rupiah(4, 12)].map((format) => orUnknown(format));
  return (amount) => {
    const decimals = amount === undefined ? 0 : decimalsOf(amount);
    return (decimals === 0 ? whole : decimals <= 2 ? two : four)?.(amount) ?? UNKNOWN;
  };
}

/** How many decimals an amount has without the zeros at its end. */
function decimalsOf(amount: Decimal): number {
  return /\.(\d*[1-9])/.exec(amount)?.[1]?.length ?? 0;
}

function orUnknown(format: Once<Intl.NumberFormat>): Written {
  return (amount) => (amount === undefined || amount === "" ? UNKNOWN : tidy(format().format(exactly(amount))));
}

function exactly(amount: Decimal): NumericText {
  if (!DECIMAL.test(amount)) throw new RangeError(`not a decimal: ${amount}`);
  return amount as NumericText;
}

function isBelowCent(amount: Decimal): boolean {
  return /^-?0\.00/.test(amount) && /[1-9]/.test(amount);
}

/** Intl puts a no-break space behind "Rp" in one language and none in the other; ours is the same in both. */
function tidy(text: string): string {
  return text.replace(/^(-?)Rp\s*/, "$1Rp\u00a0");
}

function once<Made>(make: () => Made): Once<Made> {
  let made: Made | undefined;
  return () => (made ??= make());
}
