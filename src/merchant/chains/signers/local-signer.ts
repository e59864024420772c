// The key in this process, from the environment or a file.

import type { Hex } from "viem";
import { privateKeyToAddress, sign } from "viem/accounts";
import type { Signer } from "./signer.ts";

/** Makes the signer. Errors: what is no private key; they may quote it. */
export function createLocalSigner(privateKey: Hex): Signer {
  const address = privateKeyToAddress(privateKey);
  return {
    kind: "local",
    address: () => Promise.resolve(address),
    async sign(digest) {
      const { r, s } = await sign({ hash: digest, privateKey });
      return { r: BigInt(r), s: BigInt(s) };
    },
  };
}
