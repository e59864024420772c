import { DecimalError, parseDecimal } from "../kernel/decimal.ts";
import type { FieldProblem } from "../kernel/errors.ts";

type TextRule = { readonly max: number; readonly fallback?: string; readonly pattern?: RegExp; readonly rule?: string };
type IntegerRule = { readonly min: number; readonly max: number; readonly fallback?: number };

// Line breaks and other control characters have no place in a name; a lone surrogate or NUL cannot even be stored.
const PRINTABLE = /^[^\p{Cc}\p{Cs}]*$/u;

/**
 * One place in a file that an operator wrote: reads its value and notes what is wrong with it, so that all problems
 * are reported at once. Messages never repeat what was written: it may be a credential in the wrong place.
 */
export class FileField {
  readonly path: string;
  readonly #value: unknown;
  readonly #problems: FieldProblem[];

  constructor(path: string, value: unknown, problems: FieldProblem[]) {
    this.path = path;
    this.#value = value ?? undefined;
    this.#problems = problems;
  }

  get isAbsent(): boolean {
    return this.#value === undefined;
  }

  /** Notes a problem with the value here. */
  note(rule: string, message: string): void {
    this.#problems.push({ field: this.path, rule, message });
  }

  /** The fields of a mapping, by their names. Null, noted, when it is none; a name that is not among them is noted too. */
  mapping<Name extends string>(names: readonly Name[]): Record<Name, FileField> | null {
    if (!(this.#value instanceof Map)) {
      this.note(this.isAbsent ? "required" : "mapping", "must be a mapping");
      return null;
    }
    const values = this.#value as Map<unknown, unknown>;
    const known: ReadonlySet<unknown> = new Set(names);
    if (values.keys().some((name) => !known.has(name))) {
      this.note("unknown_key", `must have no other keys than ${names.join(", ")}`);
    }
    const prefix = this.path === "" ? "" : `${this.path}.`;
    return Object.fromEntries(
      names.map((name) => [name, new FileField(prefix + name, values.get(name), this.#problems)]),
    ) as Record<Name, FileField>;
  }

  /** The items of a list, none when it is left out. */
  list({ min = 0, max }: { readonly min?: number; readonly max: number }): FileField[] {
    const items: unknown = this.#value ?? [];
    if (Array.isArray(items) && items.length >= min && items.length <= max) {
      return items.map((item, index) => new FileField(`${this.path}[${index}]`, item, this.#problems));
    }
    this.note("list", `must be a list of ${min} to ${max} items`);
    return [];
  }

  /** The items of a list; anything else is the only item itself. */
  oneOrList(bounds: { readonly min?: number; readonly max: number }): FileField[] {
    return Array.isArray(this.#value) ? this.list(bounds) : [this];
  }

  text({ max, fallback, pattern = PRINTABLE, rule = "of printable characters" }: TextRule): string {
    if (this.isAbsent && fallback !== undefined) return fallback;
    const value = this.#value;
    if (typeof value === "string" && (value !== "" || fallback === "") && value.length <= max && pattern.test(value)) {
      return value;
    }
    if (this.isAbsent) this.note("required", "must be given");
    else this.note("text", `must be a text of at most ${max} characters, ${rule}`);
    return "";
  }

  oneOf<Choice extends string>(choices: readonly Choice[], fallback?: Choice): Choice | undefined {
    if (this.isAbsent && fallback !== undefined) return fallback;
    const choice = choices.find((each) => each === this.#value);
    if (choice === undefined) this.note("one_of", `must be one of ${choices.join(", ")}`);
    return choice;
  }

  integer({ min, max, fallback }: IntegerRule): number {
    if (this.isAbsent && fallback !== undefined) return fallback;
    const value = this.#value;
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
    this.note(this.isAbsent ? "required" : "integer", `must be a whole number from ${min} to ${max}`);
    return min;
  }

  flag(fallback: boolean): boolean {
    if (this.isAbsent) return fallback;
    if (typeof this.#value === "boolean") return this.#value;
    this.note("flag", "must be true or false");
    return fallback;
  }

  /** A decimal in quotes, in units of 10^-scale. A number without quotes is refused: it went through binary floating point. */
  decimal({ scale, max, limit }: { readonly scale: number; readonly max: bigint; readonly limit: string }): bigint {
    if (typeof this.#value !== "string") {
      this.note(this.isAbsent ? "required" : "decimal", 'must be a decimal in quotes, such as "5000" or "0.5"');
      return 0n;
    }
    try {
      const units = parseDecimal(this.#value, scale);
      if (units <= max) return units;
      this.note("decimal.max", `must be at most ${limit}`);
    } catch (error) {
      if (!(error instanceof DecimalError)) throw error;
      this.note(`decimal.${error.reason}`, error.message);
    }
    return 0n;
  }
}
