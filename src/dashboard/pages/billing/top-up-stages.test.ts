import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { TopUpSchema, TopUpState } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { type Answer, isAwaited, isSettled, laterOf } from "./top-up-stages.ts";

const answer = (state: TopUpState, atMs: number): Answer => ({ topUp: create(TopUpSchema, { state }), atMs });

describe("two answers about a top-up", () => {
  it.each([
    ["expired", TopUpState.EXPIRED],
    ["failed", TopUpState.FAILED],
    ["canceled", TopUpState.CANCELED],
    ["paid", TopUpState.PAID],
  ])("give way to the one that it is %s, whichever came last", (_name, state) => {
    const pending = TopUpState.PENDING;
    expect(laterOf(answer(pending, 1), answer(state, 2))?.state).toBe(state);
    expect(laterOf(answer(pending, 2), answer(state, 1))?.state).toBe(state);
    expect(laterOf(answer(state, 1), answer(pending, 2))?.state).toBe(state);
  });

  it("are ordered by time where both are in the same stage", () => {
    const [review, failed] = [TopUpState.REVIEW, TopUpState.FAILED];
    expect(laterOf(answer(review, 1), answer(failed, 2))?.state).toBe(failed);
    expect(laterOf(answer(failed, 1), answer(review, 2))?.state).toBe(review);
    expect(laterOf(answer(review, 2), answer(failed, 1))?.state).toBe(review);
  });

  it("may be only one", () => {
    expect(laterOf(null, answer(TopUpState.PAID, 1))?.state).toBe(TopUpState.PAID);
    expect(laterOf(answer(TopUpState.PAID, 1), null)?.state).toBe(TopUpState.PAID);
    expect(laterOf(null, null)).toBeNull();
  });
});

describe("a top-up", () => {
  it("is expected until it has ended, and settled only where money arrived", () => {
    const named = (is: (state: TopUpState) => boolean) =>
      Object.entries(TopUpState).flatMap(([name, state]) => (is(state) ? [name] : []));
    expect(named(isAwaited)).toEqual(["UNSPECIFIED", "CREATED", "PENDING", "REVIEW"]);
    expect(named(isSettled)).toEqual(["PAID", "REFUNDED", "PARTIALLY_REFUNDED", "CHARGED_BACK"]);
  });
});
