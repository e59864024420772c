// The two worlds of merchants, as they stand in addresses and as they look. Which one a page is about is told by a word, a
// sign and a colour of its own: coins of one are worth nothing, those of the other are real.

import { FlaskConical, Landmark } from "lucide-react";
import { Environment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import type { EnvironmentName } from "./environment-names.ts";
import { MERCHANT_MESSAGES } from "./merchant-messages.ts";

/** The world in the contract's words. */
export const ENVIRONMENT_OF = {
  sandbox: Environment.SANDBOX,
  production: Environment.PRODUCTION,
} as const satisfies Record<EnvironmentName, Environment>;

/** Text and ground of a world. */
export const ENVIRONMENT_COLOURS = {
  sandbox: "bg-sandbox-soft text-sandbox",
  production: "bg-warn-soft text-warn",
} as const satisfies Record<EnvironmentName, string>;

/** The edge of what belongs to a world. */
export const ENVIRONMENT_EDGES = {
  sandbox: "border-sandbox",
  production: "border-warn",
} as const satisfies Record<EnvironmentName, string>;

const SIGNS = { sandbox: FlaskConical, production: Landmark } as const;

/** The world's name with its sign. */
export function EnvironmentLabel({ environment }: { readonly environment: EnvironmentName }) {
  const messages = useMessages(MERCHANT_MESSAGES);
  const Sign = SIGNS[environment];
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <Sign className="size-4 shrink-0" aria-hidden />
      {messages[environment]}
    </span>
  );
}

/** Stands wherever something is done that would be different in the other world. */
export function EnvironmentBadge({ environment }: { readonly environment: EnvironmentName }) {
  return (
    <span
      className={`inline-flex items-center rounded-full px-2 py-0.5 text-xs font-medium ${ENVIRONMENT_COLOURS[environment]}`}
    >
      <EnvironmentLabel environment={environment} />
    </span>
  );
}
