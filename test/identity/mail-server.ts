// A mail server that stores every mail: as much of SMTP as a client needs to send one.

import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { AddressInfo } from "node:net";

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

type KeptMail = { readonly to: string; readonly text: string };

const WITHIN_MS = 60_000;

/** Starts it on a free port of the loopback. */
export async function startMailServer() {
  const mails: KeptMail[] = [];
  const arrivals = new EventTarget();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
    void takeMails(socket, (mail) => {
      mails.push(mail);
      arrivals.dispatchEvent(new Event("mail"));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  /** The newest mail to an address with this text. */
  async function to(address: string, form: RegExp): Promise<string> {
    const deadline = AbortSignal.timeout(WITHIN_MS);
    for (;;) {
      const found = mails.findLast((mail) => mail.to === address && form.test(mail.text));
      if (found !== undefined) return found.text;
      await once(arrivals, "mail", { signal: deadline });
    }
  }

  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mails,
    to,
    /** The link to this path in the newest mail to an address. */
    async linkTo(address: string, form: RegExp): Promise<string> {
      return /^http\S+$/m.exec(await to(address, form))?.[0] ?? "";
    },
    async stop(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function takeMails(socket: Socket, keep: (mail: KeptMail) => void): Promise<void> {
  const reply = (line: string) => socket.write(`${line}\r\n`);
  let to = "";
  let data: string[] | null = null;
  reply("220 test");
  for await (const line of createInterface(socket)) {
    if (data !== null) {
      if (line !== ".") {
        data.push(line.replace(/^\.\./, "."));
        continue;
      }
      keep({ to, text: readableText(data.join("\n")) });
      data = null;
      reply("250 kept");
    } else if (/^DATA/i.test(line)) {
      data = [];
      reply("354 go on");
    } else if (/^QUIT/i.test(line)) {
      socket.end("221 bye\r\n");
    } else {
      to = /^RCPT TO:<([^>]*)>/i.exec(line)?.[1] ?? to;
      reply("250 fine");
    }
  }
}

/** The received headers, and the decoded body. */
function readableText(message: string): string {
  const at = message.indexOf("\n\n");
  const [head, body] = [message.slice(0, at), message.slice(at + 2)];
  if (/^content-transfer-encoding: base64/im.test(head)) return `${head}\n\n${Buffer.from(body, "base64").toString()}`;
  if (!/^content-transfer-encoding: quoted-printable/im.test(head)) return message;
  const joined = body.replace(/=\n/g, "");
  return `${head}\n\n${joined.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))}`;
}
