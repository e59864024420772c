// `saldo doctor`: looks at everything that a service needs, each thing for real and at the same time, while the service runs and
// while it does not. It changes nothing and prints no secret.

import type { Config } from "../../app/config/config.ts";
import { safetyProblems } from "../../app/config/safety.ts";
import type { Command } from "../command.ts";
import { integerOption } from "../option-values.ts";
import { column, type Shown, tableOf } from "../table.ts";
import { cellChecks } from "./cells.ts";
import { certificateChecks } from "./certificates.ts";
import { chainChecks } from "./chains.ts";
import { type Check, failed, type Finding, ok, runCheck, warning } from "./check.ts";
import { ClockSamples } from "./clock.ts";
import { databaseChecks } from "./database.ts";
import { folderChecks } from "./folders.ts";
import { hiderOf } from "./hide-secrets.ts";
import { mailChecks } from "./mail.ts";
import { paymentChecks } from "./payments.ts";
import { portChecks } from "./ports.ts";
import { proofChecks } from "./proof.ts";
import { upstreamChecks } from "./upstreams.ts";

const SECONDS = { least: 1, most: 120, usual: 10 } as const;

export const doctorCommands: readonly Command[] = [
  {
    name: "doctor",
    about:
      "Looks at settings, ports, database, clock, folders, mail, payments, chains and upstreams for real; exits with 1 when something has failed.",
    options: {
      seconds: {
        required: false,
        value: "N",
        about: `how long one check may take, ${SECONDS.least} to ${SECONDS.most}; ${SECONDS.usual}`,
      },
    },
    async run(values, { config }) {
      const range = { min: SECONDS.least, max: SECONDS.most };
      const withinMs = integerOption(values.get("seconds") ?? String(SECONDS.usual), "seconds", range) * 1_000;
      const checks = await examine(config, withinMs);
      const counts = {
        ok: checks.filter(({ state }) => state === "ok").length,
        warnings: checks.filter(({ state }) => state === "warning").length,
        failed: checks.filter(({ state }) => state === "failed").length,
      };
      const isFine = counts.failed === 0;
      return { json: { ok: isFine, counts, checks }, text: shown(checks, counts), ok: isFine };
    },
  },
];

/** Runs every check, and returns what each has found, without a secret. */
async function examine(config: Config, withinMs: number): Promise<Finding[]> {
  const context = { config, withinMs };
  const samples = new ClockSamples();
  const database = databaseChecks(context);
  const checks = [
    settingsCheck(config),
    ...portChecks(context),
    ...certificateChecks(context),
    ...database.checks,
    ...proofChecks(context, database),
    ...cellChecks(context),
    ...folderChecks(context),
    ...mailChecks(context),
    ...paymentChecks(context, database),
    ...chainChecks(context),
    ...upstreamChecks(context, { isReadable: database.isReadable, samples }),
  ];
  const findings = (await Promise.all(checks.map((check) => runCheck(check, withinMs)))).flat();
  const hide = hiderOf(config);
  return [...findings, samples.finding()].map(({ finding, advice, ...rest }) => ({
    ...rest,
    finding: hide(finding),
    advice: advice === null ? null : hide(advice),
  }));
}

/** What a start refuses, and what is better changed. */
function settingsCheck(config: Config): Check {
  return {
    name: "settings",
    advice: "",
    look() {
      const problems = safetyProblems(config).map((problem) =>
        failed("settings", problem, "A start is refused until then."),
      );
      const advice = config
        .fileAdvice()
        .map((sentence) => warning("settings", sentence, "Change the mode of that file."));
      return Promise.resolve(
        [...problems, ...advice].length > 0 ? [...problems, ...advice] : [ok("settings", "a start accepts them")],
      );
    },
  };
}

function shown(findings: readonly Finding[], counts: Readonly<Record<"ok" | "warnings" | "failed", number>>): Shown {
  const columns = [
    column<Finding>("state", ({ state }) => state),
    column<Finding>("check", ({ check }) => check),
    column<Finding>("finding", ({ finding, advice }) =>
      advice === null || advice === "" ? finding : `${finding}. ${advice}`,
    ),
  ];
  return [tableOf(findings, columns, ""), "", `${counts.ok} ok, ${counts.warnings} warnings, ${counts.failed} failed.`];
}
