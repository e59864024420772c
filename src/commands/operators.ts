import { baseUrlOf } from "../app/compose/announcement.ts";
import { removeOperator, inviteOperator, listOperators } from "../identity/operator-invites.ts";
import { withAuditLog } from "../operator/audit-log/operator-actions.ts";
import type { Command } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { column, tableOf } from "./table.ts";

type Operator = Awaited<ReturnType<typeof listOperators>>[number];

const OPERATOR_COLUMNS = [
  column<Operator>("e-mail", ({ email }) => email),
  column<Operator>("name", ({ name }) => name),
  column<Operator>("since", ({ createdAt }) => createdAt),
  column<Operator>("person", ({ personId }) => personId),
];

export const operatorCommands: readonly Command[] = [
  {
    name: "operator link",
    about:
      "Makes a link that makes an operator, once and within half an hour. The person who opens it chooses address and password.",
    options: {},
    async run(_values, { config, database }) {
      const link = await withAuditLog(
        await operatorHere(database),
        (client) => inviteOperator(client, baseUrlOf(config, config.httpPort)),
        () => ({ action: "operator link", subject: null, reason: null, inAccount: null }),
      );
      return { json: { link }, text: link };
    },
  },
  {
    name: "operator list",
    about: "Lists the people with the operator role.",
    options: {},
    async run(_values, { database }) {
      const operators = await listOperators((await database()).pool);
      const json = operators.map(({ createdAt, ...each }) => ({ ...each, createdAt: createdAt.toISOString() }));
      return { json: { operators: json }, text: tableOf(operators, OPERATOR_COLUMNS, "There is no operator.") };
    },
  },
  {
    name: "operator remove",
    about: "Removes the operator role from a person, who stays a member.",
    options: { email: { required: true, value: "E", about: "the person's e-mail address" } },
    async run(values, { database }) {
      const email = values.need("email");
      const personId = await withAuditLog(
        await operatorHere(database),
        (client) => removeOperator(client, email),
        (id) => ({ action: "operator remove", subject: id, reason: null, inAccount: null }),
      );
      return { json: { personId } };
    },
  },
];
