// What `saldo doctor --json` has found, by check.

import { expect } from "vitest";
import { runSaldo } from "../setup/saldo-command.ts";

type Finding = {
  readonly check: string;
  readonly state: string;
  readonly finding: string;
  readonly advice: string | null;
};

export type Diagnosis = {
  readonly code: number;
  readonly stdout: string;
  readonly checks: readonly Finding[];
  /** The finding of a check, which is there once. */
  readonly of: (check: string) => Finding;
};

/** Any free ports, so that no other program of this machine decides. */
const FREE = { SALDO_HTTP_PORT: "0", SALDO_GRPC_PORT: "0", SALDO_METRICS_PORT: "0" };

/** Runs the doctor with these settings. */
export async function diagnose(settings: Readonly<Record<string, string>>, ...options: string[]): Promise<Diagnosis> {
  const { code, stdout, stderr } = await runSaldo(["doctor", "--json", ...options], { ...FREE, ...settings });
  expect(stderr).toBe("");
  const { ok, counts, checks } = JSON.parse(stdout) as {
    ok: boolean;
    counts: Record<string, number>;
    checks: Finding[];
  };
  expect(ok).toBe(code === 0);
  expect(counts["failed"] === 0).toBe(ok);
  return {
    code,
    stdout,
    checks,
    of: (check) => {
      const found = checks.filter((each) => each.check === check);
      expect(found, `${check} in ${stdout}`).toHaveLength(1);
      return found[0] as Finding;
    },
  };
}
