// The ways to sign in that better-auth does not have: the link that makes an operator, and the one click of a demo.

import type { BetterAuthPlugin } from "better-auth";
import { createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";
import { NotFound } from "../../kernel/errors.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { MakeOperator } from "../operator-invites.ts";

export type OwnPluginDependencies = {
  /** The person whom the one click of a demo signs in. Null: this is no demo. */
  readonly demoPerson: (() => Promise<string>) | null;
  /** Makes the operator of a link. */
  readonly makeOperator: MakeOperator;
};

type AuthContext = Parameters<typeof setSessionCookie>[0];

/** The endpoints as a plugin. Their fields have been read by sign-in.ts. */
export function ownPlugin({ demoPerson, makeOperator }: OwnPluginDependencies): BetterAuthPlugin {
  return {
    id: "saldo",
    endpoints: {
      signInDemo: createAuthEndpoint("/demo/sign-in", { method: "POST" }, async (ctx) => {
        if (demoPerson === null) throw new NotFound();
        return ctx.json(await beginSession(ctx, await demoPerson()));
      }),
      setUpOperator: createAuthEndpoint("/operator/set-up", { method: "POST" }, async (ctx) => {
        const { token, email, password, name } = ctx.body as Record<string, string | undefined>;
        const personId = await makeOperator({ token: token ?? "", email: email ?? "", password: password ?? "", name });
        return ctx.json(await beginSession(ctx, personId));
      }),
    },
  };
}

async function beginSession(ctx: AuthContext, personId: string): Promise<object> {
  const { internalAdapter } = ctx.context;
  const user = await internalAdapter.findUserById(personId);
  invariant(user !== null, "a person who may sign in exists");
  const session = await internalAdapter.createSession(personId);
  await setSessionCookie(ctx, { session, user });
  return { user: { id: user.id, email: user.email, name: user.name, emailVerified: user.emailVerified } };
}
