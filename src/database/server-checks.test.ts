import { describe, expect, test } from "vitest";
import { refuseUnsafeServer } from "./server-checks.ts";

const safe = {
  versionNumber: 150_018,
  replica: false,
  settings: { fsync: "on", full_page_writes: "on", synchronous_commit: "on", synchronous_standby_names: "" },
};

describe("a server that keeps money", () => {
  test("may be PostgreSQL 15 or newer", () => {
    expect(() => refuseUnsafeServer(safe)).not.toThrow();
    expect(() => refuseUnsafeServer({ ...safe, versionNumber: 180_004 })).not.toThrow();
  });

  test("may wait for its standby at each commit", () => {
    const settings = { ...safe.settings, synchronous_commit: "remote_apply" };
    expect(() => refuseUnsafeServer({ ...safe, settings })).not.toThrow();
  });

  test.each([
    ["local", ""],
    ["local", "ANY 1 (a, b)"],
    ["remote_write", "ANY 1 (a, b)"],
  ])("does not acknowledge before its standby has a commit: %s with '%s'", (commit, standbys) => {
    const settings = { ...safe.settings, synchronous_commit: commit, synchronous_standby_names: standbys };
    expect(() => refuseUnsafeServer({ ...safe, settings })).toThrow(`synchronous_commit is ${commit}`);
  });

  test("may have any other synchronous_commit, and remote_write without a standby", () => {
    for (const commit of ["on", "remote_apply", "remote_write"]) {
      const settings = { ...safe.settings, synchronous_commit: commit };
      expect(() => refuseUnsafeServer({ ...safe, settings })).not.toThrow();
    }
  });

  test("is not older", () => {
    expect(() => refuseUnsafeServer({ ...safe, versionNumber: 140_022 })).toThrow(/PostgreSQL 14\. .*15 or newer/);
  });

  test.each(["fsync", "full_page_writes", "synchronous_commit"])("does not have %s off", (name) => {
    const settings = { ...safe.settings, [name]: "off" };
    expect(() => refuseUnsafeServer({ ...safe, settings })).toThrow(new RegExp(`setting ${name} is off`));
  });
});
