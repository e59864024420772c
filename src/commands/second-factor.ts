import { withAuditLog } from "../operator/audit-log/operator-actions.ts";
import { ofOwnAccount } from "../identity/end-sessions.ts";
import { resetSecondFactor } from "../identity/second-factor/reset-second-factor.ts";
import type { Command } from "./command.ts";
import { operatorHere } from "./operator-here.ts";

export const secondFactorCommands: readonly Command[] = [
  {
    name: "person reset-second-factor",
    about:
      "Removes the authenticator app, the recovery codes and all passkeys of a person, and ends the person's sessions. " +
      "For a person who has lost all of them, after you have verified the person as .github/SECURITY.md describes.",
    options: {
      email: { required: true, value: "E", about: "the person's e-mail address" },
      verified: { required: true, value: "TEXT", about: "how you verified the person, for the audit log" },
    },
    async run(values, { database }) {
      const [email, reason] = [values.need("email"), values.need("verified")];
      const personId = await withAuditLog(
        await operatorHere(database),
        (client) => resetSecondFactor(client, email),
        async (id, client) => ({
          action: "person reset-second-factor",
          subject: id,
          reason,
          inAccount: await ofOwnAccount(client, id, "person.second_factor_reset"),
        }),
      );
      return { json: { personId } };
    },
  },
];
