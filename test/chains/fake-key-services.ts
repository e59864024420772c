// Fakes of the key services of AWS and Google on the loopback: their paths, fields, errors and encodings, with a key of the test.

import { generateKeyPairSync, verify } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Hex } from "viem";
import { derOf, publicKeyOf, signAtRandom } from "./random-signer.ts";

/** How a service answers a question for a signature. */
export type Behaviour =
  | "sound"
  | "throttles"
  | "refuses"
  | "is silent"
  | "hangs up"
  | "answers nonsense"
  | "answers without end"
  | "cuts its answer";

/** What every fake has: a key, a behaviour, and what it has signed. */
export abstract class FakeKeyService {
  privateKey: Hex;
  behaviour: Behaviour = "sound";
  /** The digests that it has signed. */
  readonly signed: Hex[] = [];
  readonly #server: Server;

  protected constructor(privateKey: Hex) {
    this.privateKey = privateKey;
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => void parts.push(part));
      request.on("end", () => this.answer(request, Buffer.concat(parts).toString(), response));
    });
  }

  protected abstract answer(request: IncomingMessage, body: string, response: ServerResponse): void;
  /** The service's own error for too many calls, or for a missing right. */
  protected abstract errorOf(behaviour: "throttles" | "refuses"): { status: number; body: object };

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  protected sign(digest: Buffer): string {
    const hex: Hex = `0x${digest.toString("hex")}`;
    this.signed.push(hex);
    return derOf(signAtRandom(hex, this.privateKey)).toString("base64");
  }

  /** Answers soundly or as the behaviour wants. */
  protected reply(response: ServerResponse, body: () => object): void {
    const { behaviour } = this;
    const json = { "content-type": "application/json" };
    switch (behaviour) {
      case "sound":
        return void response.writeHead(200, json).end(JSON.stringify(body()));
      case "throttles":
      case "refuses": {
        const error = this.errorOf(behaviour);
        return void response.writeHead(error.status, json).end(JSON.stringify(error.body));
      }
      case "is silent":
        return;
      case "hangs up":
        return void response.destroy();
      case "answers nonsense":
        return void response.writeHead(200, json).end("<html>nonsense</html>");
      case "cuts its answer": {
        const text = JSON.stringify(body());
        response.writeHead(200, { ...json, "content-length": text.length });
        response.write(text.slice(0, 20), () => response.destroy());
        return;
      }
      case "answers without end": {
        response.writeHead(200, json);
        const more = (): void => {
          if (!response.destroyed) response.write(" ".repeat(65_536), () => setImmediate(more));
        };
        more();
      }
    }
  }
}

export class FakeAwsKms extends FakeKeyService {
  readonly keyId = "alias/hot-wallet";
  readonly credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret-of-the-test", sessionToken: null };

  static open(privateKey: Hex): Promise<FakeAwsKms> {
    return new FakeAwsKms(privateKey).listen();
  }

  protected errorOf(behaviour: "throttles" | "refuses") {
    const name = behaviour === "throttles" ? "ThrottlingException" : "AccessDeniedException";
    return { status: 400, body: { __type: name, message: "of the fake" } };
  }

  protected answer({ headers }: IncomingMessage, body: string, response: ServerResponse): void {
    const { KeyId, Message, MessageType, SigningAlgorithm } = JSON.parse(body) as Record<string, string>;
    const target = headers["x-amz-target"];
    const isSigned =
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-test-1\/kms\/aws4_request, SignedHeaders=.*host.*, Signature=[0-9a-f]{64}$/;
    if (KeyId !== this.keyId || !isSigned.test(headers.authorization ?? ""))
      return void response.writeHead(400).end(JSON.stringify({ __type: "IncompleteSignatureException" }));
    this.reply(response, () => {
      if (target === "TrentService.GetPublicKey")
        return { KeyId, KeySpec: "ECC_SECG_P256K1", PublicKey: publicKeyOf(this.privateKey).toString("base64") };
      if (MessageType !== "DIGEST" || SigningAlgorithm !== "ECDSA_SHA_256") return { __type: "ValidationException" };
      return { KeyId, SigningAlgorithm, Signature: this.sign(Buffer.from(Message ?? "", "base64")) };
    });
  }
}

export class FakeGoogleKms extends FakeKeyService {
  readonly keyVersion = "projects/p/locations/global/keyRings/r/cryptoKeys/hot/cryptoKeyVersions/1";
  tokensGiven = 0;
  readonly #account = generateKeyPairSync("rsa", { modulusLength: 2048 });

  static open(privateKey: Hex): Promise<FakeGoogleKms> {
    return new FakeGoogleKms(privateKey).listen();
  }

  /** The JSON key of the service account. */
  get credentials(): string {
    const key = this.#account.privateKey.export({ format: "pem", type: "pkcs8" });
    return JSON.stringify({
      type: "service_account",
      client_email: "saldo@p.iam.gserviceaccount.com",
      private_key_id: "key-1",
      private_key: key,
      token_uri: `${this.url}/token`,
    });
  }

  protected errorOf(behaviour: "throttles" | "refuses") {
    const [code, status] =
      behaviour === "throttles" ? ([429, "RESOURCE_EXHAUSTED"] as const) : ([403, "PERMISSION_DENIED"] as const);
    return { status: code, body: { error: { code, message: "of the fake", status } } };
  }

  protected answer({ url = "", headers, method }: IncomingMessage, body: string, response: ServerResponse): void {
    if (url === "/token") return this.#giveToken(body, response);
    if (headers.authorization !== `Bearer token-${this.tokensGiven}`)
      return void response.writeHead(401).end(JSON.stringify({ error: { code: 401, status: "UNAUTHENTICATED" } }));
    const path = `/v1/${this.keyVersion}`;
    if (method === "GET" && url === `${path}/publicKey`)
      return this.reply(response, () => ({
        name: this.keyVersion,
        algorithm: "EC_SIGN_SECP256K1_SHA256",
        pem: `-----BEGIN PUBLIC KEY-----\n${publicKeyOf(this.privateKey).toString("base64").replaceAll(/.{64}/g, "$&\n")}\n-----END PUBLIC KEY-----\n`,
      }));
    if (method !== "POST" || url !== `${path}:asymmetricSign`) return void response.writeHead(404).end("{}");
    const { digest } = JSON.parse(body) as { digest: { sha256: string } };
    this.reply(response, () => ({
      name: this.keyVersion,
      signature: this.sign(Buffer.from(digest.sha256, "base64")),
    }));
  }

  /** Checks the assertion as Google does. */
  #giveToken(body: string, response: ServerResponse): void {
    const form = new URLSearchParams(body);
    const [head = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".");
    const { scope, aud, exp, iat } = JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, unknown>;
    const isSound =
      form.get("grant_type") === "urn:ietf:params:oauth:grant-type:jwt-bearer" &&
      verify(
        "sha256",
        Buffer.from(`${head}.${claims}`),
        this.#account.publicKey,
        Buffer.from(signature, "base64url"),
      ) &&
      scope === "https://www.googleapis.com/auth/cloudkms" &&
      aud === `${this.url}/token` &&
      Number(exp) - Number(iat) === 3_600;
    if (!isSound) return void response.writeHead(400).end(JSON.stringify({ error: "invalid_grant" }));
    this.tokensGiven += 1;
    response.writeHead(200).end(JSON.stringify({ access_token: `token-${this.tokensGiven}`, expires_in: 3_599 }));
  }
}
