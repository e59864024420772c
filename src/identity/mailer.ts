// How mail leaves the service.

import type { Transporter } from "nodemailer";
import { UpstreamBusy } from "../kernel/errors.ts";

/** A mail of plain text to one address. */
export type Mail = { readonly to: string; readonly subject: string; readonly text: string };

export type Mailer = {
  /** Whether mail can be sent at all. */
  readonly isConfigured: boolean;
  /** Hands a mail to the mail server. Errors: UpstreamBusy when that cannot be done now. */
  send(mail: Mail): Promise<void>;
};

export type MailSettings = {
  /** The mail server, such as smtps://user:password@smtp.example.com. Null: there is none. */
  readonly smtpUrl: string | null;
  readonly from: string;
};

/** A mail server that takes longer counts as away. */
const ANSWERS_WITHIN_MS = 10_000;
const MOST_CONNECTIONS = 2;

/**
 * The mailer of a process. Without a mail server a demo shows mails where it announces itself, on standard output and never in
 * the log; a real service has none, and sign-up answers that mail is not set up.
 */
export function createMailer({ smtpUrl, from }: MailSettings, show: ((text: string) => void) | null): Mailer {
  if (smtpUrl === null) {
    return {
      isConfigured: show !== null,
      async send({ to, subject, text }) {
        if (show === null) throw new UpstreamBusy(undefined, { cause: new Error("no mail server is configured") });
        show(`Mail to ${to}: ${subject}\n\n${text}\n`);
      },
    };
  }
  // Loaded when the first mail is sent, and not in every start.
  let transport: Promise<Transporter> | null = null;
  return {
    isConfigured: true,
    async send({ to, subject, text }) {
      try {
        transport ??= openTransport(smtpUrl);
        await (await transport).sendMail({ from, to: { name: "", address: to }, subject, text });
      } catch (cause) {
        throw new UpstreamBusy(undefined, { cause });
      }
    },
  };
}

/** Connects to a mail server and signs in, without sending anything. Errors: those of nodemailer. */
export async function checkMailServer(smtpUrl: string, withinMs: number): Promise<void> {
  const transport = await openTransport(smtpUrl, withinMs);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

async function openTransport(url: string, withinMs = ANSWERS_WITHIN_MS): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    url,
    pool: true,
    maxConnections: MOST_CONNECTIONS,
    connectionTimeout: withinMs,
    greetingTimeout: withinMs,
    socketTimeout: withinMs,
    // Texts of ours name no file and no address to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
