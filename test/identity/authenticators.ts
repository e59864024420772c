// The proofs of people, made by the test: an authenticator app by RFC 6238, and a device with passkeys.

import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The code of an app at a time; `secret` is in base32. */
export function codeOf(secret: string, atMs: number = Date.now()): string {
  const bits = Array.from(secret, (letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(atMs / 30_000)));
  const mac = createHmac("sha1", key).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

const STEP_MS = 30_000;
/** Less of a step than a test needs to send its code. */
const TOO_LITTLE_MS = 12_000;

/**
 * The code of an app at this moment, with time left to send it: it is accepted within its own 30 seconds. A used code is returned
 * too, because the next one would come only in half a minute.
 */
export async function codeOfNow(pool: Pool, secret: string): Promise<string> {
  await pool.query("DELETE FROM auth.throttle WHERE bucket ~ '^code \\S+ [0-9a-f]{64}$'");
  const leftMs = STEP_MS - (Date.now() % STEP_MS);
  // A timer can end a millisecond early, where the code of the step before has that millisecond left.
  if (leftMs < TOO_LITTLE_MS) await sleep(leftMs + 10);
  return codeOf(secret);
}

type Options = { readonly challenge: string };

/** A device that keeps one passkey. `asks`: it asks for a finger or a PIN before it signs. */
export class PasskeyDevice {
  readonly #id = randomBytes(16);
  readonly #keys: { publicKey: KeyObject; privateKey: KeyObject } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly #site: { rpId: string; origin: string };
  readonly #asks: boolean;
  #uses = 0;

  constructor(site: { rpId: string; origin: string }, { asks = true }: { asks?: boolean } = {}) {
    this.#site = site;
    this.#asks = asks;
  }

  /** The answer to the options of a registration. */
  register({ challenge }: Options): object {
    const { x = "", y = "" } = this.#keys.publicKey.export({ format: "jwk" });
    const coordinate = (text: string) => Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(text, "base64url")]);
    const key = [Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21]), coordinate(x), Buffer.from([0x22]), coordinate(y)];
    const length = Buffer.from([0, this.#id.length]);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.#id, ...key]);
    const data = this.#authenticatorData(0x40, credential);
    const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
    const size = Buffer.from([0x59, data.length >> 8, data.length & 255]);
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3]),
      text("fmt"),
      text("none"),
      text("attStmt"),
      Buffer.from([0xa0]),
      text("authData"),
      size,
      data,
    ]);
    const clientDataJSON = this.#clientData("webauthn.create", challenge);
    return this.#answer({ clientDataJSON, attestationObject }, { transports: ["internal"] });
  }

  /** The answer to the options of a sign-in. */
  authenticate({ challenge }: Options): object {
    const clientDataJSON = this.#clientData("webauthn.get", challenge);
    const authenticatorData = this.#authenticatorData(0, Buffer.alloc(0));
    const signed = Buffer.concat([authenticatorData, createHash("sha256").update(clientDataJSON).digest()]);
    const signature = sign("sha256", signed, this.#keys.privateKey);
    return this.#answer({ clientDataJSON, authenticatorData, signature });
  }

  #authenticatorData(flags: number, rest: Buffer): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE((this.#uses += 1));
    const site = createHash("sha256").update(this.#site.rpId).digest();
    return Buffer.concat([site, Buffer.from([flags | 1 | (this.#asks ? 4 : 0)]), counter, rest]);
  }

  #clientData(type: string, challenge: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.#site.origin, crossOrigin: false }));
  }

  #answer(parts: Record<string, Buffer>, more: object = {}): object {
    const texts = Object.entries(parts).map(([name, bytes]) => [name, bytes.toString("base64url")]);
    const id = this.#id.toString("base64url");
    const response = { ...Object.fromEntries(texts), ...more };
    return { id, rawId: id, type: "public-key", response, clientExtensionResults: {} };
  }
}
