// The mail server: whether it answers and takes our login, and whether mails have a sender that others accept.

import type { Config } from "../../app/config/config.ts";
import { checkMailServer } from "../../identity/mailer.ts";
import { type Check, codeOf, failed, type Finding, ok, type CheckContext, reasonOf, warning } from "./check.ts";

/** nodemailer's code for a login that the server refuses. */
const BAD_LOGIN = "EAUTH";
/** nodemailer's codes for an answer that is a refusal; its text is the server's and is left out. */
const REFUSED: ReadonlySet<string> = new Set(["EENVELOPE", "EMESSAGE", "EPROTOCOL"]);
const NO_SENDER = /@localhost>?$/;

/** The checks of mail. */
export function mailChecks({ config, withinMs }: CheckContext): Check[] {
  return [
    {
      name: "smtp",
      advice: "Look at the server that SMTP_URL names and the network path to it.",
      look: async () => [await lookAtServer(config, withinMs)],
    },
    { name: "mail", advice: "Set SMTP_FROM.", look: () => Promise.resolve([lookAtSender(config)]) },
  ];
}

async function lookAtServer({ smtpUrl, demo }: Config, withinMs: number): Promise<Finding> {
  if (smtpUrl === null) {
    return demo
      ? ok("smtp", "there is no mail server; a demo shows mails on standard output")
      : warning(
          "smtp",
          "there is no mail server, so people cannot sign up or choose another password",
          "Set SMTP_URL.",
        );
  }
  try {
    await checkMailServer(smtpUrl, withinMs);
    return ok(
      "smtp",
      `the server at ${placeOf(smtpUrl)} answers${new URL(smtpUrl).username === "" ? "" : " and takes the login"}`,
    );
  } catch (error) {
    if (codeOf(error) === BAD_LOGIN)
      return failed(
        "smtp",
        `the server at ${placeOf(smtpUrl)} refuses the login`,
        "Set user and password in SMTP_URL.",
      );
    const reply = error instanceof Error && "responseCode" in error ? Number(error.responseCode) : 0;
    if (reply > 0 || REFUSED.has(codeOf(error)))
      return failed(
        "smtp",
        `the server at ${placeOf(smtpUrl)} refuses this client${reply > 0 ? `: ${reply}` : ""}`,
        "Look at that server's log, and at what SMTP_URL names.",
      );
    return failed(
      "smtp",
      `the server at ${placeOf(smtpUrl)} cannot be reached: ${reasonOf(error)}`,
      "Look at the server that SMTP_URL names and the network path to it.",
    );
  }
}

function lookAtSender({ smtpUrl, mailFrom }: Config): Finding {
  if (smtpUrl === null) return ok("mail", "none is sent");
  if (NO_SENDER.test(mailFrom))
    return warning("mail", `is sent as ${mailFrom}, which receivers refuse`, "Set SMTP_FROM to an address of yours.");
  return ok("mail", `is sent as ${mailFrom}`);
}

function placeOf(url: string): string {
  return new URL(url).host;
}
