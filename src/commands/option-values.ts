import { isUuid } from "../kernel/ids.ts";
import { UsageError } from "./command.ts";

/** A UUID from the command line. Errors: UsageError. */
export function uuidOption(value: string, option: string): string {
  if (!isUuid(value)) throw new UsageError(`--${option} must be a UUID`);
  return value.toLowerCase();
}

/** A whole number from the command line. Errors: UsageError. */
export function integerOption(value: string, option: string, { min, max }: { min: number; max: number }): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max))
    throw new UsageError(`--${option} must be a whole number from ${min} to ${max}`);
  return number;
}

/** One of a few words from the command line. Errors: UsageError. */
export function choiceOption<Choice extends string>(value: string, option: string, choices: readonly Choice[]): Choice {
  const chosen = choices.find((choice) => choice === value);
  if (chosen === undefined) throw new UsageError(`--${option} must be ${choices.join(" or ")}`);
  return chosen;
}
