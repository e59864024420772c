// Signing up, in and out. Everything that a browser sends to `/auth` passes through here. It is counted, reduced to the fields of its
// path and answered by better-auth, whose answer is translated to the shapes of this service.

import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../database/database.ts";
import { TooManyTries, UpstreamBusy, ValidationError } from "../../kernel/errors.ts";
import type { Language } from "../../kernel/preferred-language.ts";
import { askServer, type AuthAnswer, toAnswer } from "./auth-answer.ts";
import { readAuthFields } from "./auth-fields.ts";
import type { AuthRoute } from "./auth-routes.ts";
import type { AuthServer } from "./auth-server.ts";
import type { BreachedPasswords } from "../passwords/breached-passwords.ts";
import { deviceCookie, knownDevice } from "./known-devices.ts";
import type { Mail, Mailer } from "../mailer.ts";
import { passwordChangedMail } from "../mails.ts";
import { createMakeOperator } from "../operator-invites.ts";
import { networkOf } from "../client-network.ts";
import { sessionOfCookies } from "../people.ts";
import type { SessionRow } from "../people-store.ts";
import { isCommonPassword } from "../passwords/passwords.ts";
import { keepSignUp } from "./pending-sign-ups.ts";
import type { SecondFactor } from "../second-factor/second-factor.ts";
import { renewSession } from "../renew-session.ts";
import { noteProof, type ProofKind } from "../session-proof.ts";
import { cookiePlanOf, withoutCookie } from "../session-cookie.ts";
import { giveBackTry, type Pace, takeTry } from "../throttle.ts";

/** A request to a path of sign-in, as the transport read it. */
export type AuthRequest = {
  readonly route: AuthRoute;
  /** The path below `/auth`, with its query. */
  readonly target: string;
  /** The body's own fields. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The Cookie header; empty without one. */
  readonly cookies: string;
  readonly userAgent: string;
  /** The language of the page that sends it. */
  readonly language: Language;
  /** The network address of the caller. */
  readonly address: string;
};

export type SignIn = { answer(request: AuthRequest): Promise<AuthAnswer> };

export type SignInDependencies = {
  readonly database: Pick<Database, "pool">;
  readonly mailer: Mailer;
  /** Where people reach the service. Known once it listens. */
  readonly baseUrl: () => string;
  /** The first signs cookies and links and encrypts the secrets of apps; the others decrypt those. */
  readonly secrets: () => Promise<readonly string[]>;
  readonly demoPerson: (() => Promise<string>) | null;
  /** Whether all people must have a second factor. Left out: only those who must have one anywhere. */
  readonly factorForAll?: boolean;
  readonly breachedPasswords: Pick<BreachedPasswords, "refuse">;
  readonly onMailLost: (error: unknown) => void;
};

/** Longer than the difference in time between known and unknown addresses. */
const EVEN_TIME_MS = 500;
/** A device that the owner has signed in from has its own tries. */
const KNOWN_DEVICE: Pace = { burst: 20, intervalSeconds: 30 };
/**
 * What is left for an address whose tries are used up: a few tries from each network, and a number from all networks together. So
 * guesses from one network lock no owner out, and guesses from many are no faster.
 */
const OWN_NETWORK: Pace = { burst: 3, intervalSeconds: 600 };
const OTHER_NETWORKS: Pace = { burst: 20, intervalSeconds: 300 };

const HAS_PASSKEY = `
SELECT FROM auth.passkey k JOIN auth.person p ON p.id = k.user_id WHERE p.email = $1 LIMIT 1`;

/** What is loaded for the first person. */
type Loaded = {
  readonly server: AuthServer;
  readonly secret: string;
  readonly secondFactor: SecondFactor;
  readonly requireSession: (route: AuthRoute, session: SessionRow | null) => void;
};

/** The words of the own address make no good password; a path without an address uses the session's. */
function refuseOwnWords(
  { newPassword = "" }: AuthRoute,
  fields: Record<string, unknown>,
  session: SessionRow | null,
): void {
  const password = fields[newPassword];
  if (session === null || typeof password !== "string" || !isCommonPassword(password, session.email)) return;
  const message = "is one that is guessed first";
  throw new ValidationError([{ field: newPassword, rule: "password.common", message }]);
}

/** Creates the use case behind the paths of `/auth`. */
export function createSignIn(dependencies: SignInDependencies): SignIn {
  const { database, mailer, baseUrl, onMailLost, demoPerson, breachedPasswords, factorForAll = false } = dependencies;
  const { pool } = database;
  const resets = new WeakMap<Request, string>();
  const proofs = new WeakMap<Request, ProofKind>();
  const isDemo = demoPerson !== null;
  let loading: Promise<Loaded> | null = null;

  const send = (mail: Mail): void => void mailer.send(mail).catch(onMailLost);

  const load = () =>
    (loading ??= build().catch((error: unknown) => {
      loading = null; // the database was away, perhaps; the next one tries again
      throw error;
    }));

  async function build(): Promise<Loaded> {
    const [{ createAuthServer }, { createSecondFactor, requireSession }, { createFactorSecrets }, secrets] =
      await Promise.all([
        import("./auth-server.ts"),
        import("../second-factor/second-factor.ts"),
        import("../second-factor/factor-secrets.ts"),
        dependencies.secrets(),
      ]);
    const [secret = ""] = secrets;
    const factorSecrets = createFactorSecrets(secrets);
    const secondFactor = createSecondFactor({ database, factorSecrets, baseUrl: baseUrl(), send });
    const server = createAuthServer({
      pool,
      mailer,
      baseUrl: baseUrl(),
      secret,
      factorSecrets,
      demoPerson,
      makeOperator: createMakeOperator(database, breachedPasswords),
      onMailLost,
      onPasswordReset: (request, email) => request !== undefined && resets.set(request, email),
      async onSession(request, sessionId) {
        const proof = request === undefined ? undefined : proofs.get(request);
        if (proof !== undefined) await noteProof(pool, sessionId, proof);
      },
    });
    return { server, secret, secondFactor, requireSession };
  }

  /** Takes a try of every bucket of the request. Returns the function that gives the tries back. Errors: TooManyTries. */
  async function count({ route, cookies, address }: AuthRequest, email: string | null, secret: string) {
    const { perAddress, perEmail } = route.counting;
    const network = networkOf(address);
    const taken: [string, Pace][] = [];
    const take = async (bucket: string, pace: Pace): Promise<number> => {
      const seconds = await takeTry(pool, bucket, pace);
      if (seconds === 0) taken.push([bucket, pace]);
      return seconds;
    };
    const require = async (bucket: string, pace: Pace): Promise<void> => {
      const seconds = await take(bucket, pace);
      if (seconds > 0) throw new TooManyTries(seconds);
    };
    await require(`${route.path} ${network}`, perAddress);
    if (perEmail !== undefined && email !== null) {
      const device = knownDevice(cookies, { plan: cookiePlanOf(baseUrl()), secret, email });
      if (device !== null) await require(`${route.path} device ${device}`, KNOWN_DEVICE);
      else {
        const bucket = `${route.path} ${createHash("sha256").update(email).digest("hex")}`;
        const isNewHere = (await take(`${bucket} ${network}`, OWN_NETWORK)) === 0;
        const seconds = await take(bucket, perEmail);
        if (seconds > 0 && !isNewHere) throw new TooManyTries(seconds);
        if (seconds > 0) await require(`${bucket} elsewhere`, OTHER_NETWORKS);
      }
    }
    return async () => {
      for (const [bucket, pace] of taken) await giveBackTry(pool, bucket, pace);
    };
  }

  async function run(request: AuthRequest, fields: Record<string, unknown>): Promise<AuthAnswer> {
    const { route, language } = request;
    const email = typeof fields["email"] === "string" ? fields["email"] : null;
    if (route.mails === true && !mailer.isConfigured) throw new NoMail();
    const { server, secret, secondFactor, requireSession } = await load();
    const giveBack = await count(request, email, secret);
    const session = await sessionOf(request.cookies);
    requireSession(route, session);
    // The token from before a proof must not have the proof.
    const renew = async (answer: AuthAnswer): Promise<AuthAnswer> => {
      if (session === null || (route.proves === undefined && route.own !== "verifyPassword")) return answer;
      const [{ sessionId }, { cookies }, plan] = [session, request, cookiePlanOf(baseUrl())];
      const line = await renewSession(database, { sessionId, cookies, plan, secret });
      return line === null ? answer : { ...answer, headers: [...answer.headers, ["set-cookie", line]] };
    };
    if (route.own !== undefined && session !== null) {
      const body = JSON.stringify(await secondFactor[route.own]({ ...session, language }, fields));
      return renew({ status: 200, headers: [], body });
    }
    refuseOwnWords(route, fields, session);
    const password = fields[route.newPassword ?? ""];
    // After the try was counted, so that a flood of these paths asks no other server; and for known and unknown addresses, so that
    // the time shows nothing.
    if (typeof password === "string" && route.newPassword !== undefined)
      await breachedPasswords.refuse(route.newPassword, password);
    const afterProof = await secondFactor.before(route, session === null ? null : { ...session, language }, fields);
    const asked = toWebRequest(session === null ? withoutSession(request) : request, fields, baseUrl());
    // The new session after a change of password has shown the former password, and the factor of the session before.
    if (route.path === "/change-password" && session !== null)
      proofs.set(asked, session.proof.isFactorProved ? "factor" : "password");
    const done = await toAnswer(await askServer(server, asked), route);
    await afterProof();
    const answer = await renew(done);
    if (route.path === "/change-password" && session !== null)
      send(passwordChangedMail({ to: session.email, language }, baseUrl()));
    if (route.counting.givesBack === true) await giveBack();
    if (route.path === "/sign-up/email") return withSignUp(answer, fields, language);
    if (answer.isHalfWay === true) return withPasskeyWay(answer, email);
    const signedIn = route.path === "/sign-in/email" ? email : (resets.get(asked) ?? null);
    if (signedIn === null) return answer;
    const device = deviceCookie(cookiePlanOf(baseUrl()), secret, signedIn);
    return { ...answer, headers: [...answer.headers, ["set-cookie", device]], email: signedIn };
  }

  function sessionOf(cookies: string): Promise<SessionRow | null> {
    return sessionOfCookies(pool, { cookies, cookieName: cookiePlanOf(baseUrl()).sessionName, isDemo, factorForAll });
  }

  /** The request without a session that has ended: an operator's ends earlier than better-auth believes. */
  function withoutSession(request: AuthRequest): AuthRequest {
    return { ...request, cookies: withoutCookie(request.cookies, cookiePlanOf(baseUrl()).sessionName) };
  }

  /** The same answer, with `passkey` among the methods where the person has one. */
  async function withPasskeyWay(answer: AuthAnswer, email: string | null): Promise<AuthAnswer> {
    const shown = JSON.parse(answer.body) as { twoFactorMethods: string[] };
    const { rowCount } = await pool.query(HAS_PASSKEY, [email]);
    const ways = rowCount === 0 ? shown.twoFactorMethods : [...shown.twoFactorMethods, "passkey"];
    return { ...answer, body: JSON.stringify({ twoFactorRedirect: true, twoFactorMethods: ways }) };
  }

  /** The same answer with the cookie of the sign-up, for free and taken addresses. */
  async function withSignUp(
    answer: AuthAnswer,
    fields: Record<string, unknown>,
    language: Language,
  ): Promise<AuthAnswer> {
    const { email, name, password } = fields as { email: string; name: string; password: string };
    const cookie = await keepSignUp(pool, cookiePlanOf(baseUrl()), { email, name, password, language });
    return { ...answer, headers: [...answer.headers, ["set-cookie", cookie]] };
  }

  return {
    async answer(request) {
      const fields = { ...readAuthFields(request), ...request.route.always };
      if (request.route.evenTime !== true) return run(request, fields);
      const [answer] = await Promise.allSettled([run(request, fields), sleep(EVEN_TIME_MS)]);
      if (answer.status === "rejected") throw answer.reason;
      return answer.value;
    },
  };
}

/** Accounts need mail, and this service has no server for it. */
class NoMail extends UpstreamBusy {
  override readonly message =
    "Mail is not set up here, so people cannot sign up or reset a password. The operator can set it up.";
}

/** The request as better-auth sees it. The transport has checked that it comes from our own pages. */
function toWebRequest(request: AuthRequest, fields: Record<string, unknown>, baseUrl: string): Request {
  const { route, target, cookies, userAgent, language, address } = request;
  const headers = new Headers({
    origin: new URL(baseUrl).origin,
    cookie: cookies,
    "user-agent": userAgent,
    "accept-language": language,
    "x-saldo-client-address": address,
  });
  const { callbackURL } = fields;
  if (typeof callbackURL === "string") headers.set("x-saldo-landing", encodeURIComponent(callbackURL));
  if (route.verb === "GET") return new Request(`${baseUrl}/auth${target}`, { headers });
  headers.set("content-type", "application/json");
  return new Request(`${baseUrl}/auth${target}`, { method: "POST", headers, body: JSON.stringify(fields) });
}
