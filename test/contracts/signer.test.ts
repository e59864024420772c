// What every signer has to do, whatever has its key: tried with the key in the process, on a real token, and with fakes of two key services.

import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { keccak256 } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { createAwsKmsSigner } from "../../src/merchant/chains/signers/aws-kms-signer.ts";
import { createGoogleKmsSigner } from "../../src/merchant/chains/signers/google-kms-signer.ts";
import { serviceAccountToken } from "../../src/merchant/chains/signers/google-token.ts";
import { createLocalSigner } from "../../src/merchant/chains/signers/local-signer.ts";
import { createPkcs11Signer, type Pkcs11Settings } from "../../src/merchant/chains/signers/pkcs11-signer.ts";
import { type Signer, SignerFailure, WrongSigner } from "../../src/merchant/chains/signers/signer.ts";
import { RefusedPin } from "../../src/merchant/chains/signers/refused-pin.ts";
import { TokenAccess } from "../../src/merchant/chains/signers/token-access.ts";
import { WalletSigner } from "../../src/merchant/chains/signers/wallet-signer.ts";
import { type Behaviour, FakeAwsKms, FakeGoogleKms, type FakeKeyService } from "../chains/fake-key-services.ts";
import { SoftToken, tokenOf } from "../setup/soft-hsm.ts";

const KEY = generatePrivateKey();
const PATIENT = { timeoutMs: 20_000, pauseMs: 0 };
const never = new AbortController().signal;

let aws: FakeAwsKms;
let google: FakeGoogleKms;
let opened: Awaited<ReturnType<typeof SoftToken.open>>;
beforeAll(async () => {
  [aws, google, opened] = [await FakeAwsKms.open(KEY), await FakeGoogleKms.open(KEY), await SoftToken.open()];
});
afterAll(async () => {
  await Promise.all([aws.stop(), google.stop()]);
  if (opened instanceof SoftToken) await opened.drop();
});

const onToken = (context: TestContext, more: Partial<Pkcs11Settings> = {}): Signer =>
  createPkcs11Signer({ ...tokenOf(context, opened).settings, ...more });
const atAws = (keyId = aws.keyId): Signer =>
  createAwsKmsSigner({ region: "eu-test-1", url: aws.url, keyId, credentials: aws.credentials });
const atGoogle = (): Signer =>
  createGoogleKmsSigner({
    url: google.url,
    keyVersion: google.keyVersion,
    token: serviceAccountToken(google.credentials),
  });

const signers: readonly (readonly [kind: string, open: (context: TestContext) => Signer])[] = [
  ["local", () => createLocalSigner(KEY)],
  ["pkcs11", (context) => onToken(context)],
  ["aws-kms", () => atAws()],
  ["google-kms", () => atGoogle()],
];

describe.each(signers)("a signer of kind %s", (kind, open) => {
  it("shows the address of its key, and signs so that each signature leads to it", async (context) => {
    const signer = open(context);
    expect(signer.kind).toBe(kind);
    const wallet = (await signer.address(never)) as Hex;
    expect(await signer.address(never)).toBe(wallet);
    const proven = new WalletSigner({ signer, wallet, pace: PATIENT });
    await proven.check();
    const made = new Set<bigint>();
    for (let number = 0; number < 12; number += 1) made.add((await proven.sign(keccak256(`0x0${number % 10}`))).r);
    // Of ten digests, two were signed twice: what has no random k answers the same.
    expect(made.size).toBe(kind === "local" ? 10 : 12);
  });

  it("is refused for a wallet of another key", async (context) => {
    const wallet = privateKeyToAddress(generatePrivateKey());
    const proven = new WalletSigner({ signer: open(context), wallet, pace: PATIENT });
    await expect(proven.check()).rejects.toThrow(WrongSigner);
    await expect(proven.sign(keccak256("0x01"))).rejects.toThrow(WrongSigner);
  });
});

const BEHAVIOURS: readonly Behaviour[] = [
  "throttles",
  "refuses",
  "is silent",
  "hangs up",
  "answers nonsense",
  "answers without end",
  "cuts its answer",
];

describe.each<[string, () => FakeKeyService, () => Signer]>([
  ["AWS", () => aws, atAws],
  ["Google", () => google, atGoogle],
])("the key service of %s", (_name, serviceOf, open) => {
  it.each(BEHAVIOURS)("that %s is a failure that may pass, and shows no credential", async (behaviour) => {
    const service = serviceOf();
    const timeoutMs = behaviour === "is silent" ? 200 : 20_000;
    const wallet = new WalletSigner({
      signer: open(),
      wallet: privateKeyToAddress(KEY),
      pace: { timeoutMs, pauseMs: 0 },
    });
    service.behaviour = behaviour;
    const error = await wallet.sign(keccak256("0x01")).catch((each: unknown) => each);
    service.behaviour = "sound";
    expect(error).toBeInstanceOf(SignerFailure);
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toMatch(/secret-of-the-test|token-\d|PRIVATE KEY|AWS4/);
    await wallet.check();
    expect(wallet.trouble).toBeNull();
  });

  it("that throttles is reported as that", async () => {
    const service = serviceOf();
    service.behaviour = "throttles";
    const error = await open()
      .sign(keccak256("0x01"), never)
      .catch((each: unknown) => each);
    service.behaviour = "sound";
    expect(String(error)).toMatch(/Throttling|RESOURCE_EXHAUSTED/);
  });

  it("that answers without end is left after its first bytes, and not when the time is over", async () => {
    const service = serviceOf();
    service.behaviour = "answers without end";
    const error = await open()
      .sign(keccak256("0x01"), AbortSignal.timeout(20_000))
      .catch((each: unknown) => each);
    service.behaviour = "sound";
    expect(String(error)).toMatch(/answered more than 65536 bytes/);
  });

  it("that is not there is a failure that may pass", async () => {
    const gone = await FakeAwsKms.open(KEY);
    const { url } = gone;
    await gone.stop();
    const signer = createAwsKmsSigner({ region: "r", url, keyId: "k", credentials: aws.credentials });
    const wallet = new WalletSigner({ signer, wallet: privateKeyToAddress(KEY), pace: PATIENT });
    await expect(wallet.check()).rejects.toThrow(/cannot be reached: ECONNREFUSED/);
  });

  it("that signs with another key is refused", async () => {
    const service = serviceOf();
    const wallet = new WalletSigner({ signer: open(), wallet: privateKeyToAddress(KEY), pace: PATIENT });
    await wallet.check();
    service.privateKey = generatePrivateKey();
    const signed = await wallet.sign(keccak256("0x01")).catch((each: unknown) => each);
    service.privateKey = KEY;
    expect(signed).toBeInstanceOf(WrongSigner);
  });
});

describe("Google's tokens", () => {
  it("are asked for once for many signatures", async () => {
    const signer = atGoogle();
    const before = google.tokensGiven;
    for (let number = 0; number < 3; number += 1) await signer.sign(keccak256("0x01"), never);
    expect(google.tokensGiven).toBe(before + 1);
  });

  it.each(["", "{}", "nonsense", '{"private_key":"SECRET","token_uri":"https://x"}'])(
    "are not had by %j, and no error quotes it",
    (json) => {
      expect(() => serviceAccountToken(json)).toThrow(/^this is no JSON key/);
    },
  );
});

describe("a token", () => {
  it("signs with the key of the id, and with no other where there is none", async (context) => {
    tokenOf(context, opened).makeKey("02");
    const [first, second] = [
      await onToken(context).address(never),
      await onToken(context, { keyId: "02" }).address(never),
    ];
    expect(first).not.toBe(second);
    const wallet = new WalletSigner({
      signer: onToken(context, { keyId: "02" }),
      wallet: second as Hex,
      pace: PATIENT,
    });
    await wallet.check();
    const missing = new WalletSigner({
      signer: onToken(context, { keyId: "0f" }),
      wallet: first as Hex,
      pace: PATIENT,
    });
    await expect(missing.check()).rejects.toThrow(SignerFailure);
    await expect(missing.sign(keccak256("0x01"))).rejects.toThrow(/Private key not found/);
  });

  it("with a key of another curve is a failure", async (context) => {
    tokenOf(context, opened).makeKey("03", "prime256v1");
    await expect(onToken(context, { keyId: "03" }).address(never)).rejects.toThrow("secp256k1");
  });

  it("that refuses the PIN is not asked again, so that it does not lock itself", async (context) => {
    const { settings } = tokenOf(context, opened);
    // The other tests of this process go on with the same token.
    const signer = createPkcs11Signer({ ...settings, pin: "0000000" }, new TokenAccess());
    const wallet = new WalletSigner({ signer, wallet: (await signer.address(never)) as Hex, pace: PATIENT });
    await expect(wallet.sign(keccak256("0x01"))).rejects.toThrow(/refuses the PIN \(CKR_PIN_INCORRECT\)/);
    await expect(wallet.sign(keccak256("0x01"))).rejects.toThrow(/tried again by the next start/);
    await expect(wallet.check()).rejects.toThrow(/tried again by the next start/);
  });

  it("that has refused a PIN is not asked with it by a later start, and is with another one", async (context) => {
    const { settings } = tokenOf(context, opened);
    const folder = await mkdtemp(join(tmpdir(), "saldo-refused-"));
    const [tool, tries, file] = [join(folder, "tool"), join(folder, "tries"), join(folder, "data", "refused-pin")];
    const lines = ["#!/bin/sh", `case "$*" in *--login*) echo try >> ${tries} ;; esac`, `exec ${settings.tool} "$@"`];
    await writeFile(tool, `${lines.join("\n")}\n`, { mode: 0o755 });
    /** A process of its own, as after a crash. */
    const start = (pin: string) => {
      const { module, token } = settings;
      const access = new TokenAccess(new RefusedPin(file, { module, token, pin }));
      return createPkcs11Signer({ ...settings, tool, pin }, access).sign(keccak256("0x01"), never);
    };
    const tried = async () => (await readFile(tries, "utf8")).split("\n").length - 1;
    await expect(start("0000000")).rejects.toThrow(/refuses the PIN \(CKR_PIN_INCORRECT\)/);
    for (let again = 0; again < 3; again += 1)
      await expect(start("0000000")).rejects.toThrow(`has refused this PIN (CKR_PIN_INCORRECT); it is not tried again`);
    expect(await tried()).toBe(1);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, "utf8")).not.toContain("0000000");
    expect(await start(settings.pin)).toMatchObject({ r: expect.anything() as unknown });
    // An operator who gives the token this PIN after all removes the file.
    await rm(file);
    await expect(start("0000000")).rejects.toThrow("refuses the PIN");
    expect(await tried()).toBe(3);
    expect(await start(settings.pin)).toMatchObject({ r: expect.anything() as unknown });
    await rm(folder, { recursive: true });
  });

  it.for<[what: string, more: Partial<Pkcs11Settings>]>([
    ["another label", { token: "no-such-token" }],
    ["a library that is not there", { module: "/nowhere/lib.so" }],
    ["a program that is not there", { tool: "/nowhere/pkcs11-tool" }],
    ["a program that answers something else", { tool: "/bin/echo" }],
  ])("with %s is a failure that may pass, and shows no PIN", async ([, more], context) => {
    const wallet = new WalletSigner({
      signer: onToken(context, more),
      wallet: privateKeyToAddress(KEY),
      pace: PATIENT,
    });
    const error = await wallet.sign(keccak256("0x01")).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(SignerFailure);
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain(tokenOf(context, opened).settings.pin);
  });
});
