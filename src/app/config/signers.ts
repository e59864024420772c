// The settings of what signs payouts outside the process: a token, or the key service of a cloud.

import { ConfigError } from "./environment.ts";
import type { SettingReaders } from "./setting-readers.ts";

export const SIGNER_KINDS = ["local", "pkcs11", "aws-kms", "google-kms"] as const;
export type SignerKind = (typeof SIGNER_KINDS)[number];

/** The signer of one chain's wallet. */
export type ChainSigner = {
  readonly kind: Exclude<SignerKind, "local">;
  /** The key's name at the signer. */
  readonly key: string;
  /** The wallet's address. Null: only `saldo payout signer` runs, which prints it. */
  readonly wallet: string | null;
};

/** What the signers of all chains have in common; their secrets are read by name (`SIGNER_SECRETS`). */
export type SignerSettings = {
  readonly timeoutMs: number;
  readonly pkcs11: { readonly tool: string; readonly module: string; readonly token: string };
  readonly aws: { readonly region: string; readonly url: string };
  readonly google: { readonly url: string };
};

const TIMEOUT_SECONDS = { min: 1, max: 60 };
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** What a key is called at each signer, and how that is described. */
const KEYS: Readonly<Record<ChainSigner["kind"], readonly [RegExp, string]>> = {
  pkcs11: [/^(?:[0-9a-fA-F]{2}){1,64}$/, "the id of a key on the token, in hexadecimal digits"],
  "aws-kms": [/^[A-Za-z0-9:/_-]{1,2048}$/, "the id, the alias or the ARN of a key"],
  "google-kms": [
    /^projects\/[\w.:-]+\/locations\/[\w-]+\/keyRings\/[\w-]+\/cryptoKeys\/[\w-]+\/cryptoKeyVersions\/\d+$/,
    "projects/…/locations/…/keyRings/…/cryptoKeys/…/cryptoKeyVersions/…",
  ],
};

/** A chain's settings of its signer. */
type Given = { readonly name: string; readonly value: string | null };

/** Reads the signer of a chain. Null: the key is in a variable. Errors: ConfigError. */
export function readChainSigner(
  { wrong }: Pick<SettingReaders, "wrong">,
  given: { readonly kind: SignerKind; readonly key: Given; readonly wallet: Given; readonly keyVariable: Given },
): ChainSigner | null {
  const { kind, key, wallet, keyVariable } = given;
  if (kind === "local") return null;
  if (keyVariable.value !== null)
    throw new ConfigError(`${keyVariable.name} must not be set with a signer of kind ${kind}, which has the key`);
  const [shape, accepted] = KEYS[kind];
  if (!shape.test(key.value ?? "")) throw wrong(key.name, key.value ?? "", accepted);
  if (wallet.value !== null && !ADDRESS.test(wallet.value))
    throw wrong(wallet.name, wallet.value, "the wallet's address, 0x and 40 hexadecimal digits");
  return { kind, key: key.value ?? "", wallet: wallet.value };
}

/** Reads what signers have in common. Errors: ConfigError, where a kind that is used lacks a setting. */
export function readSigners(read: SettingReaders, used: ReadonlySet<SignerKind>): SignerSettings {
  const { text, integer, providerUrl, wrong } = read;
  const required = (kind: SignerKind, settings: Readonly<Record<string, string | null>>): void => {
    const missing = Object.keys(settings).filter((name) => settings[name] === null);
    if (used.has(kind) && missing.length > 0)
      throw new ConfigError(`${missing.join(" and ")} must be set for a signer of kind ${kind}`);
  };
  const [module, token, pin] = [
    text("SALDO_PKCS11_MODULE"),
    text("SALDO_PKCS11_TOKEN_LABEL"),
    text("SALDO_PKCS11_PIN"),
  ];
  required("pkcs11", { SALDO_PKCS11_MODULE: module, SALDO_PKCS11_TOKEN_LABEL: token, SALDO_PKCS11_PIN: pin });
  const [region, accessKey, secret] = [text("AWS_REGION"), text("AWS_ACCESS_KEY_ID"), text("AWS_SECRET_ACCESS_KEY")];
  required("aws-kms", { AWS_REGION: region, AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secret });
  if (region !== null && !/^[a-z0-9-]{1,40}$/.test(region)) throw wrong("AWS_REGION", region, "such as eu-central-1");
  // Read where they are used; here they become settings, which no program that is started finds in its environment.
  text("AWS_SESSION_TOKEN");
  text("SALDO_GOOGLE_KMS_CREDENTIALS");
  return {
    timeoutMs: integer("SALDO_SIGNER_TIMEOUT_SECONDS", 10, TIMEOUT_SECONDS) * 1_000,
    pkcs11: { tool: text("SALDO_PKCS11_TOOL") ?? "pkcs11-tool", module: module ?? "", token: token ?? "" },
    aws: {
      region: region ?? "",
      url: providerUrl("SALDO_AWS_KMS_URL", `https://kms.${region ?? ""}.amazonaws.com`),
    },
    google: { url: providerUrl("SALDO_GOOGLE_KMS_URL", "https://cloudkms.googleapis.com") },
  };
}

/** The settings that hold a secret of a signer. */
export const SIGNER_SECRETS = [
  "SALDO_PKCS11_PIN",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "SALDO_GOOGLE_KMS_CREDENTIALS",
] as const;
