// The signers of wallets whose keys are outside this process, from the configuration.

import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { ChainSigner } from "../config/signers.ts";
import type { OutsideSigner } from "../../merchant/chains/evm/wallet.ts";
import { createAwsKmsSigner } from "../../merchant/chains/signers/aws-kms-signer.ts";
import { createGoogleKmsSigner } from "../../merchant/chains/signers/google-kms-signer.ts";
import { metadataToken, serviceAccountToken } from "../../merchant/chains/signers/google-token.ts";
import { createPkcs11Signer } from "../../merchant/chains/signers/pkcs11-signer.ts";
import type { Signer } from "../../merchant/chains/signers/signer.ts";

const METADATA_URL = "http://metadata.google.internal";
/** How long a signer that failed is left alone. A round of payouts comes every four seconds. */
const PAUSE_MS = 3_000;

/** In the data folder: a PIN that the token has refused, which no start tries again. */
export const REFUSED_PIN_FILE = "refused-pin";

type Settings = Pick<Config, "signers" | "variable" | "programEnvironment">;

/** Makes the signer of a chain's wallet. Errors: credentials that cannot be ones. */
export function outsideSigner(chain: ChainSigner, settings: Settings & Pick<Config, "dataDir">): OutsideSigner {
  const refusedPinFile = join(settings.dataDir, REFUSED_PIN_FILE);
  return {
    signer: signerOf(chain, settings, { refusedPinFile }),
    pace: { timeoutMs: settings.signers.timeoutMs, pauseMs: PAUSE_MS },
  };
}

/** The address of each signer's key, beside the wallet's that is set. Errors: those of the signers. */
export async function askSigners({
  chains,
  ...settings
}: Settings & Pick<Config, "chains">): Promise<
  { readonly chain: string; readonly kind: string; readonly address: string; readonly wallet: string | null }[]
> {
  const asked = chains.flatMap(({ network, signer }) => (signer === null ? [] : [{ network, signer }]));
  return Promise.all(
    asked.map(async ({ network, signer }) => {
      const signal = AbortSignal.timeout(settings.signers.timeoutMs);
      const address = await signerOf(signer, settings).address(signal);
      return { chain: network, kind: signer.kind, address, wallet: signer.wallet };
    }),
  );
}

/** Without `refusedPinFile` the signer is asked for its address alone, which needs no PIN. */
function signerOf(
  { kind, key }: ChainSigner,
  { signers, variable, programEnvironment }: Settings,
  refused: { readonly refusedPinFile?: string } = {},
): Signer {
  if (kind === "pkcs11") {
    const pin = variable("SALDO_PKCS11_PIN") ?? "";
    return createPkcs11Signer({
      ...signers.pkcs11,
      ...refused,
      keyId: key,
      pin,
      environment: programEnvironment(),
    });
  }
  if (kind === "aws-kms") {
    const credentials = {
      accessKeyId: variable("AWS_ACCESS_KEY_ID") ?? "",
      secretAccessKey: variable("AWS_SECRET_ACCESS_KEY") ?? "",
      sessionToken: variable("AWS_SESSION_TOKEN") ?? null,
    };
    return createAwsKmsSigner({ ...signers.aws, keyId: key, credentials });
  }
  const json = variable("SALDO_GOOGLE_KMS_CREDENTIALS");
  const token = json === undefined ? metadataToken(METADATA_URL) : serviceAccountToken(json);
  return createGoogleKmsSigner({ ...signers.google, keyVersion: key, token });
}
