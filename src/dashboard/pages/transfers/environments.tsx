// The two environments of merchants, in addresses and on the page. A page shows its environment by a word, an icon and
// a colour: coins of the sandbox are worth nothing, those of production are real.

import { FlaskConical, Landmark } from "lucide-react";
import { Environment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { type EnvironmentName, ENVIRONMENTS } from "./environment-names.ts";
import { MERCHANT_MESSAGES } from "./merchant-messages.ts";

/** The environment in the contract's terms. */
export const ENVIRONMENT_OF = {
  sandbox: Environment.SANDBOX,
  production: Environment.PRODUCTION,
} as const satisfies Record<EnvironmentName, Environment>;

/** The environment in an address. Undefined: this page does not know it. */
export function environmentNameOf(environment: Environment): EnvironmentName | undefined {
  return ENVIRONMENTS.find((name) => ENVIRONMENT_OF[name] === environment);
}

/** Text and background colours of an environment. */
export const ENVIRONMENT_COLOURS = {
  sandbox: "bg-sandbox-soft text-sandbox",
  production: "bg-warn-soft text-warn",
} as const satisfies Record<EnvironmentName, string>;

/** The border of parts that belong to an environment. */
export const ENVIRONMENT_EDGES = {
  sandbox: "border-sandbox",
  production: "border-warn",
} as const satisfies Record<EnvironmentName, string>;

const SIGNS = { sandbox: FlaskConical, production: Landmark } as const;

/** The environment's name with its icon. */
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

/** Shown wherever an action would have another effect in the other environment. */
export function EnvironmentBadge({ environment }: { readonly environment: EnvironmentName }) {
  return (
    <span
      className={`inline-flex items-center rounded-full px-2 py-0.5 text-xs font-medium ${ENVIRONMENT_COLOURS[environment]}`}
    >
      <EnvironmentLabel environment={environment} />
    </span>
  );
}
