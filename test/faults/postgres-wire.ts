// PostgreSQL's wire protocol, as far as a proxy needs it: where messages end, which statements a client runs, and how
// to write the few messages of a fault.

/** One message. `type` is its letter; a client's first message has none, so `""`. */
export type Message = { readonly type: string; readonly bytes: Buffer };

const LENGTH_BYTES = 4;
const NO_BYTES = Buffer.alloc(0);

/** Cuts a stream of bytes into messages. */
export class MessageCutter {
  #rest: Buffer = NO_BYTES;
  /** Only a client's first message comes without a letter. */
  #untyped: boolean;

  constructor(side: "client" | "server") {
    this.#untyped = side === "client";
  }

  /** The messages that are complete with these bytes. */
  push(bytes: Buffer): Message[] {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const messages: Message[] = [];
    for (;;) {
      const letters = this.#untyped ? 0 : 1;
      if (this.#rest.length < letters + LENGTH_BYTES) return messages;
      const end = letters + this.#rest.readInt32BE(letters);
      if (this.#rest.length < end) return messages;
      messages.push({ type: this.#rest.toString("latin1", 0, letters), bytes: this.#rest.subarray(0, end) });
      this.#rest = this.#rest.subarray(end);
      this.#untyped = false;
    }
  }
}

/** Letters of what clients send. */
export const FROM_CLIENT = {
  parse: "P",
  bind: "B",
  execute: "E",
  sync: "S",
  query: "Q",
  close: "C",
  terminate: "X",
} as const;
/** Letters of what servers send. */
export const FROM_SERVER = {
  authentication: "R",
  parameter: "S",
  keyData: "K",
  ready: "Z",
  commandComplete: "C",
  error: "E",
  parseComplete: "1",
  closeComplete: "3",
} as const;

/** The texts of a message, which end with a zero byte each. Of a Bind: portal, statement. Of a Parse: statement, text. */
export function textsOf({ type, bytes }: Message, count: number): string[] {
  const texts: string[] = [];
  let at = type.length + LENGTH_BYTES;
  for (let index = 0; index < count; index += 1) {
    const end = bytes.indexOf(0, at);
    texts.push(bytes.toString("utf8", at, end));
    at = end + 1;
  }
  return texts;
}

/** The statements a client runs with these messages: the names of prepared ones, the texts of others. */
export function statementsOf(messages: readonly Message[]): string[] {
  const statements: string[] = [];
  let unnamed = "";
  for (const message of messages) {
    if (message.type === FROM_CLIENT.query) statements.push(textsOf(message, 1)[0] ?? "");
    if (message.type === FROM_CLIENT.parse) {
      const [name, text = ""] = textsOf(message, 2);
      if (name === "") unnamed = text;
    }
    if (message.type === FROM_CLIENT.bind) statements.push(textsOf(message, 2)[1] || unnamed);
  }
  return statements;
}

/** The SQLSTATE of an error. */
export function sqlStateOf({ bytes }: Message): string {
  return /\0C(\w{5})\0/.exec(`\0${bytes.toString("latin1", 1 + LENGTH_BYTES)}`)?.[1] ?? "";
}

/** Writes a message: texts, bytes and numbers of 32 bits. */
export function encode(type: string, ...parts: readonly (string | Buffer | number)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => {
      if (Buffer.isBuffer(part)) return part;
      if (typeof part === "string") return Buffer.from(`${part}\0`);
      const number = Buffer.alloc(LENGTH_BYTES);
      number.writeInt32BE(part);
      return number;
    }),
  );
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeInt32BE(body.length + LENGTH_BYTES);
  return Buffer.concat([Buffer.from(type, "latin1"), length, body]);
}

const NOTHING_IN_SHORT = Buffer.alloc(2);

/** Asks the server for its pending replies, without ending the transaction. */
export const FLUSH = encode("H");

/** A statement without parameters and without a name, run after others in their transaction. */
export function unnamedStatement(text: string): Buffer {
  return Buffer.concat([
    encode(FROM_CLIENT.parse, "", text, NOTHING_IN_SHORT),
    encode(FROM_CLIENT.bind, "", "", NOTHING_IN_SHORT, NOTHING_IN_SHORT, NOTHING_IN_SHORT),
    encode(FROM_CLIENT.execute, "", 0),
  ]);
}
