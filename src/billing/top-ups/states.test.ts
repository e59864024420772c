import { describe, expect, test } from "vitest";
import { isCredited, type ReportedState, statesAfter } from "./states.ts";
import { TOP_UP_STATES, type TopUpState } from "./top-up.ts";

/** In the order of the table; that it was created is no report. */
const REPORTED = TOP_UP_STATES.filter((state) => state !== "created");

/** Every transition there is: a row for each state, a column for each report. A dot: nothing changes; >: by way of paid. */
const TABLE: Readonly<Record<TopUpState, string>> = {
  //                   pending review expired failed canceled paid p_ref refunded ch_back
  created: "           pending review expired failed canceled paid >     >        >",
  pending: "           .       review expired failed canceled paid >     >        >",
  review: "            .       .      expired failed canceled paid >     >        >",
  expired: "           .       review .       .      .        paid >     >        >",
  failed: "            .       review .       .      .        paid >     >        >",
  canceled: "          .       review .       .      .        paid >     >        >",
  paid: "              .       .      .       .      .        .    =     =        =",
  partially_refunded: ".       .      .       .      .        .    =     =        =",
  refunded: "          .       .      .       .      .        .    .     .        .",
  charged_back: "      .       .      .       .      .        .    =     =        =",
};

const CASES = Object.entries(TABLE).flatMap(([state, row]) =>
  row
    .trim()
    .split(/\s+/)
    .map((cell, column): [string, TopUpState, ReportedState, ReportedState[]] => {
      const reported = REPORTED[column] ?? "pending";
      const after: ReportedState[] = cell === "." ? [] : cell === ">" ? ["paid", reported] : [reported];
      return [
        `${state} that is reported ${reported}: ${after.join(", ") || "stays"}`,
        state as TopUpState,
        reported,
        after,
      ];
    }),
);

describe("a top-up", () => {
  test("has a row for each state and a column for each report", () => {
    expect(CASES).toHaveLength(10 * REPORTED.length);
  });

  test.each(CASES)("%s", (_name, state, reported, after) => {
    expect(statesAfter(state, reported)).toEqual(after);
  });

  test("is credited once on every way through the table, and never un-credited but by a refund or a chargeback", () => {
    const states = Object.keys(TABLE) as TopUpState[];
    for (const state of states)
      for (const reported of REPORTED) {
        const way = [state, ...statesAfter(state, reported)];
        const credits = way.filter((each, at) => at > 0 && each === "paid").length;
        const becomesCredited = !isCredited(state) && way.some(isCredited);
        expect(credits).toBe(becomesCredited ? 1 : 0);
        expect(way.every(isCredited)).toBe(isCredited(state));
      }
  });
});
