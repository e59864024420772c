import { type DoneAction, listActions } from "../operator/audit-log/operator-actions.ts";
import { readAdmissionStop, type AdmissionStop } from "../ledger/admission-switch.ts";
import { startAdmissions, stopAdmissions } from "../operator/commands/admission.ts";
import type { Command } from "./command.ts";
import { inAll } from "./every-cell.ts";
import { operatorHere } from "./operator-here.ts";
import { integerOption } from "./option-values.ts";
import { column, tableOf } from "./table.ts";

const ACTION_COLUMNS = [
  column<DoneAction>("done at", ({ doneAt }) => doneAt),
  column<DoneAction>("operator", ({ operator }) => operator),
  column<DoneAction>("action", ({ action }) => action),
  column<DoneAction>("subject", ({ subject }) => subject),
  column<DoneAction>("reason", ({ reason }) => reason),
];

export const admissionCommands: readonly Command[] = [
  {
    name: "admission stop",
    about: "Refuses new model requests on every process within seconds; what is running is finished, reading goes on.",
    options: { reason: { required: true, value: "R", about: "why" } },
    run: (values, context) =>
      inAll(context, async ({ database }) =>
        toResult(await stopAdmissions(await operatorHere(database), { reason: values.need("reason") })),
      ),
  },
  {
    name: "admission start",
    about: "Admits model requests again.",
    options: {},
    run: (_values, context) =>
      inAll(context, async ({ database }) => toResult(await startAdmissions(await operatorHere(database)))),
  },
  {
    name: "admission status",
    about: "Shows whether model requests are admitted.",
    options: {},
    run: (_values, context) =>
      inAll(context, async ({ database }) => toResult(await readAdmissionStop((await database()).pool))),
  },
  {
    name: "action list",
    about: "Lists what operators did by hand, newest first.",
    options: { limit: { required: false, value: "N", about: "how many, 1 to 1000; 50" } },
    async run(values, { database }) {
      const limit = integerOption(values.get("limit") ?? "50", "limit", { min: 1, max: 1000 });
      const actions = await listActions((await database()).pool, { limit });
      return {
        json: { actions: actions.map((action) => ({ ...action, doneAt: action.doneAt.toISOString() })) },
        text: tableOf(actions, ACTION_COLUMNS, "No operator has done anything yet."),
      };
    },
  },
];

function toResult(stop: AdmissionStop) {
  return { json: { stopped: stop !== null, since: stop?.since.toISOString() ?? null, reason: stop?.reason ?? null } };
}
