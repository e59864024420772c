import { describe, expect, it } from "vitest";
import { admissionStatement } from "./admission.ts";
import { LaneQueue, MAX_GROUP_SIZE, MAX_WAITING_ADMISSIONS, type Waiting } from "./lane-queue.ts";
import { settlementStatement } from "./settlement.ts";

const KINDS = { admission: admissionStatement, settlement: settlementStatement };
type Kind = keyof typeof KINDS;

function waiting(kind: Kind, { alone = false } = {}): Waiting {
  const nobody = (): void => {};
  const member = { accountId: "account" };
  const plain = { member, resolve: nobody, reject: nobody, since: 0, alone };
  return { ...plain, statement: KINDS[kind], perhapsWritten: false, isRecalled: false, attempts: 0 };
}

/** How many of each kind run next. */
function next(queue: LaneQueue): Partial<Record<Kind, number>> {
  return Object.fromEntries(queue.nextGroups().map((group) => [group[0]?.statement.name, group.length]));
}

describe("the queue of a lane", () => {
  it("refuses admissions beyond its bound, and never a settlement", () => {
    const queue = new LaneQueue();
    for (let count = 0; count < MAX_WAITING_ADMISSIONS; count += 1) expect(queue.add(waiting("admission"))).toBe(true);
    expect(queue.add(waiting("admission"))).toBe(false);
    for (let count = 0; count <= MAX_WAITING_ADMISSIONS; count += 1)
      expect(queue.add(waiting("settlement"))).toBe(true);
    expect(queue.add(waiting("admission"))).toBe(false);
    expect(next(queue)).toEqual({ settlement: MAX_GROUP_SIZE, admission: MAX_GROUP_SIZE });
    expect(queue.add(waiting("admission"))).toBe(true);
  });

  it("lets settlements and admissions that run alone take turns", () => {
    const queue = new LaneQueue();
    for (let count = 0; count < 3; count += 1) queue.add(waiting("admission", { alone: true }));
    queue.add(waiting("admission"));
    queue.add(waiting("settlement"));
    queue.add(waiting("settlement"));
    expect(next(queue)).toEqual({ settlement: 2 });
    queue.add(waiting("settlement"));
    expect(next(queue)).toEqual({ admission: 1 });
    expect(next(queue)).toEqual({ settlement: 1 });
    expect(next(queue)).toEqual({ admission: 1 });
    expect(next(queue)).toEqual({ admission: 1 });
    queue.add(waiting("settlement"));
    expect(next(queue)).toEqual({ settlement: 1, admission: 1 });
  });

  it("runs a settlement that is alone before everything, and by itself", () => {
    const queue = new LaneQueue();
    queue.add(waiting("admission", { alone: true }));
    queue.add(waiting("settlement"));
    queue.putBack([waiting("settlement", { alone: true })]);
    expect(next(queue)).toEqual({ settlement: 1 });
    expect(queue.length).toBe(2);
  });
});
