// Why a delivery was given up, and why an attempt failed. Rows have an English sentence, which every version of the service reads and
// writes; attempts are never changed. All sentences are made here, and here they are read back as a value with its detail.

import { URL_PROBLEMS } from "./callback-url.ts";

/** For how long the delivery of an event is tried. */
export const GIVE_UP_AFTER = "3 days";
/** After this time without a single success a receiver is not called any more. */
export const STOP_AFTER = "7 days";

/** Why a delivery was given up. */
export const END_TEXTS = {
  triedForDays: `Given up after ${GIVE_UP_AFTER}.`,
  laterDelivered: "A later status was delivered.",
  turnedOff: "Callbacks were turned off.",
  stopped: `Nothing was delivered for ${STOP_AFTER}, so callbacks were stopped.`,
} as const;
export type DeliveryEnd = keyof typeof END_TEXTS;

const UNREACHABLE = "could not be reached: ";
const NO_CODE = "the connection failed";
const OK = '{"message":"OK"}';

/** Why an attempt failed. `start` is that of the receiver's answer. */
export const problemTexts = {
  statusRefused: (status: number, start: string) => `answered ${status}: ${JSON.stringify(start)}`,
  notAccepted: (status: number, start: string) => `answered ${status} without ${OK}: ${JSON.stringify(start)}`,
  answerTooLong: (status: number, start: string) =>
    `answered ${status} with more than is read instead of ${OK}: ${JSON.stringify(start)}`,
  timedOut: "did not answer in time",
  processStopped: "was broken off because this process stops",
  privateAddress: "the name leads to an address that is not of the public internet",
  unreachable: (code: string | undefined) => `${UNREACHABLE}${code ?? NO_CODE}`,
} as const;
/** `addressNotAllowed`: its text is that of the ValidationError. */
export type AttemptProblem = keyof typeof problemTexts | "addressNotAllowed";

/** What an answer was: each is followed by its start, as a JSON string. */
const ANSWERED = [
  ["notAccepted", / without \{"message":"OK"\}: /],
  ["answerTooLong", / with more than is read instead of \{"message":"OK"\}: /],
  ["statusRefused", /: /],
] as const;

/** The reason in a note. Null: it has none that is known, as of a newer version. */
export function endOf(note: string): DeliveryEnd | null {
  const known = Object.keys(END_TEXTS) as DeliveryEnd[];
  return known.find((end) => END_TEXTS[end] === note) ?? null;
}

/** The reason in the problem of an attempt, and what it leaves open. `problem` null: it is none that is known. */
export function problemOf(text: string): { readonly problem: AttemptProblem | null; readonly detail: string } {
  const answered = /^answered \d{3}/.exec(text)?.[0];
  if (answered !== undefined) {
    const rest = text.slice(answered.length);
    for (const [problem, pattern] of ANSWERED) {
      const match = pattern.exec(rest);
      if (match?.index === 0) return { problem, detail: rest.slice(match[0].length) };
    }
  }
  if (text.startsWith(UNREACHABLE)) {
    const code = text.slice(UNREACHABLE.length);
    return { problem: "unreachable", detail: code === NO_CODE ? "" : code };
  }
  const whole = (["timedOut", "processStopped", "privateAddress"] as const).find((each) => problemTexts[each] === text);
  if (whole !== undefined) return { problem: whole, detail: "" };
  const rule = Object.entries(URL_PROBLEMS).find(([, message]) => text.endsWith(` url ${message}.`))?.[0];
  return rule === undefined ? { problem: null, detail: "" } : { problem: "addressNotAllowed", detail: rule };
}
