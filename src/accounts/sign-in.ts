// Signing up, in and out. Everything a browser sends to `/auth` comes through here: counted, reduced to the fields a path
// takes, done by better-auth, and its answer put into the shapes of this service.

import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../database/database.ts";
import {
  type DomainError,
  EmailNotVerified,
  type FieldProblem,
  InternalError,
  NotFound,
  NotSignedIn,
  PermissionDenied,
  TooManyTries,
  UpstreamBusy,
  ValidationError,
  WrongPassword,
} from "../kernel/errors.ts";
import type { AuthRoute } from "./auth-routes.ts";
import type { AuthServer } from "./auth-server.ts";
import { isEmailAddress } from "./customers.ts";
import { deviceCookie, knownDevice } from "./known-devices.ts";
import type { Mailer } from "./mailer.ts";
import { createMakeOperator } from "./operator-invites.ts";
import { networkOf } from "./network-of.ts";
import { isCommonPassword } from "./passwords.ts";
import { keepSignUp } from "./pending-sign-ups.ts";
import { cookiePlanOf } from "./session-cookie.ts";
import { giveBackTry, type Pace, takeTry } from "./throttle.ts";

/** A request to a path of sign-in, as the door read it. */
export type AuthRequest = {
  readonly route: AuthRoute;
  /** The path below `/auth`, with its query. */
  readonly target: string;
  /** The body's own fields. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The Cookie header; empty without one. */
  readonly cookies: string;
  readonly userAgent: string;
  /** The network address of whoever asks. */
  readonly address: string;
};

export type AuthAnswer = {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** JSON; empty where the answer leads elsewhere. */
  readonly body: string;
};

export type SignIn = { answer(request: AuthRequest): Promise<AuthAnswer> };

export type SignInDependencies = {
  readonly database: Pick<Database, "pool">;
  readonly mailer: Mailer;
  /** Where people reach the service. Known once it listens. */
  readonly baseUrl: () => string;
  /** What cookies and links are signed with. */
  readonly secret: () => Promise<string>;
  readonly demoPerson: (() => Promise<string>) | null;
  readonly onMailLost: (error: unknown) => void;
};

const MAX_TEXT_LENGTH = 2_048;
const MAX_NAME_LENGTH = 100;
/** Longer than what differs between an address that is there and one that is not. */
const EVEN_TIME_MS = 500;
/** A device that the owner has signed in from has its own tries. */
const KNOWN_DEVICE: Pace = { burst: 20, intervalSeconds: 30 };
/**
 * What is left for an address whose tries somebody has used up: a few from each network, which every try from there takes, and
 * a number from all of them together. So one network shuts nobody out, and many do not guess faster for it.
 */
const OWN_NETWORK: Pace = { burst: 3, intervalSeconds: 600 };
const OTHER_NETWORKS: Pace = { burst: 20, intervalSeconds: 300 };

/** Makes the door of sign-in for `facade`. */
export function createSignIn(dependencies: SignInDependencies): SignIn {
  const { database, mailer, baseUrl, onMailLost, demoPerson } = dependencies;
  const { pool } = database;
  const resets = new WeakMap<Request, string>();
  let loading: Promise<{ server: AuthServer; secret: string }> | null = null;

  const load = () =>
    (loading ??= build().catch((error: unknown) => {
      loading = null; // the database was away, perhaps; the next one tries again
      throw error;
    }));

  async function build() {
    const [{ createAuthServer }, secret] = await Promise.all([import("./auth-server.ts"), dependencies.secret()]);
    const server = createAuthServer({
      pool,
      mailer,
      baseUrl: baseUrl(),
      secret,
      demoPerson,
      makeOperator: createMakeOperator(database),
      onMailLost,
      onPasswordReset: (request, email) => request !== undefined && resets.set(request, email),
    });
    return { server, secret };
  }

  /** Takes a try of every bucket of the request. Gives what gives them back. Errors: TooManyTries. */
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
    const { route } = request;
    const email = typeof fields["email"] === "string" ? fields["email"] : null;
    if (route.mails === true && !mailer.isConfigured) throw new NoMail();
    const { server, secret } = await load();
    const giveBack = await count(request, email, secret);
    const asked = toWebRequest(request, fields, baseUrl());
    const answer = await toAnswer(await askServer(server, asked));
    if (route.counting.givesBack === true) await giveBack();
    if (route.path === "/sign-up/email") return withSignUp(answer, fields);
    const signedIn = route.path === "/sign-in/email" ? email : (resets.get(asked) ?? null);
    if (signedIn === null) return answer;
    const device = deviceCookie(cookiePlanOf(baseUrl()), secret, signedIn);
    return { ...answer, headers: [...answer.headers, ["set-cookie", device]] };
  }

  /** The same answer with the cookie of the sign-up, whether the address was free or not. */
  async function withSignUp(answer: AuthAnswer, fields: Record<string, unknown>): Promise<AuthAnswer> {
    const { email, name, password } = fields as { email: string; name: string; password: string };
    const cookie = await keepSignUp(pool, cookiePlanOf(baseUrl()), { email, name, password });
    return { ...answer, headers: [...answer.headers, ["set-cookie", cookie]] };
  }

  return {
    async answer(request) {
      const fields = readFields(request);
      if (request.route.evenTime !== true) return run(request, fields);
      const [answer] = await Promise.allSettled([run(request, fields), sleep(EVEN_TIME_MS)]);
      if (answer.status === "rejected") throw answer.reason;
      return answer.value;
    },
  };
}

/** Accounts need mail, and this service has no server for it. */
class NoMail extends UpstreamBusy {
  override readonly message = "Mail is not set up here, so nobody can sign up or reset a password. Its operator can.";
}

/** The fields a path takes. Errors: ValidationError naming each that is wrong. */
function readFields({ route, body }: AuthRequest): Record<string, unknown> {
  const problems: FieldProblem[] = [];
  const wrong = (field: string, rule: string, message: string) => void problems.push({ field, rule, message });
  const fields: Record<string, unknown> = {};
  for (const field of route.fields ?? []) {
    const value = Object.hasOwn(body, field) ? body[field] : undefined;
    if (value === undefined || value === null || value === "") {
      if (route.required?.includes(field)) wrong(field, "required", "is required");
    } else if (typeof value !== "string") wrong(field, "type", "must be a string");
    else if (value.length > MAX_TEXT_LENGTH || value.includes("\0")) wrong(field, "string.length", "is too long");
    else fields[field] = value;
  }
  for (const flag of route.flags ?? []) {
    const value = Object.hasOwn(body, flag) ? body[flag] : undefined;
    if (value === undefined || value === null) continue;
    if (typeof value === "boolean") fields[flag] = value;
    else wrong(flag, "type", "must be true or false");
  }
  const { email: given, name } = fields;
  const email = typeof given === "string" ? given.trim().toLowerCase() : "";
  if (typeof given === "string") {
    if (isEmailAddress(email)) fields["email"] = email;
    else wrong("email", "email.shape", "must be an e-mail address");
  }
  if (typeof name === "string" && name.length > MAX_NAME_LENGTH) {
    wrong("name", "string.length", `must have at most ${MAX_NAME_LENGTH} characters`);
  }
  const password = route.newPassword === undefined ? undefined : fields[route.newPassword];
  if (route.newPassword !== undefined && typeof password === "string" && isCommonPassword(password, email)) {
    wrong(route.newPassword, "password.common", "is one that is guessed first");
  }
  if (problems.length > 0) throw new ValidationError(problems);
  // better-auth wants one; whoever signs up may have none.
  if (route.path === "/sign-up/email") fields["name"] ??= email.split("@", 1)[0] ?? "";
  return { ...fields, ...route.always };
}

/** The request as better-auth sees it. The door has checked that it comes from our own pages. */
function toWebRequest(request: AuthRequest, fields: Record<string, unknown>, baseUrl: string): Request {
  const { route, target, cookies, userAgent, address } = request;
  const headers = new Headers({
    origin: new URL(baseUrl).origin,
    cookie: cookies,
    "user-agent": userAgent,
    "x-saldo-client-address": address,
  });
  if (route.verb === "GET") return new Request(`${baseUrl}/auth${target}`, { headers });
  headers.set("content-type", "application/json");
  return new Request(`${baseUrl}/auth${target}`, { method: "POST", headers, body: JSON.stringify(fields) });
}

/** Asks, and turns what is thrown into an error of ours. */
async function askServer(server: AuthServer, asked: Request): Promise<Response> {
  const again = asked.clone();
  let response = await server.handler(asked);
  if (response.status < 400) return response;
  let told: unknown = await response.json().catch(() => null);
  // Somebody else signed up with the address between its look and its insert. Now it finds that person.
  if (codeOf(told) === "FAILED_TO_CREATE_USER") {
    response = await server.handler(again);
    if (response.status < 400) return response;
    told = await response.json().catch(() => null);
  }
  throw toError(response.status, told);
}

function codeOf(told: unknown): string {
  const code = typeof told === "object" && told !== null && "code" in told ? told.code : "";
  return typeof code === "string" ? code : "";
}

function toError(status: number, told: unknown): DomainError {
  const facts = typeof told === "object" && told !== null ? (told as Record<string, unknown>) : {};
  const code = codeOf(told);
  const message = typeof facts["message"] === "string" ? facts["message"] : "is not valid";
  if (code === "INVALID_EMAIL_OR_PASSWORD") return new WrongPassword();
  if (code === "EMAIL_NOT_VERIFIED") return new EmailNotVerified();
  if (status === 401) return new NotSignedIn();
  if (status === 403 && !/CALLBACK|REDIRECT/.test(code)) return new PermissionDenied();
  if (status === 404) return new NotFound();
  if (status >= 500) return new InternalError({ cause: new Error(`better-auth: ${status} ${code}`) });
  const field = fieldOfCode.find(([pattern]) => pattern.test(code))?.[1] ?? "";
  return new ValidationError([{ field, rule: code.toLowerCase(), message: message.replace(/\.$/, "") }]);
}

const fieldOfCode: readonly [RegExp, string][] = [
  [/PASSWORD/, "password"],
  [/EMAIL/, "email"],
  [/TOKEN/, "token"],
  [/CALLBACK/, "callbackURL"],
  [/REDIRECT/, "redirectTo"],
];

/** Takes out what belongs into cookies alone: a script that reads a session's token could carry it away. */
async function toAnswer(response: Response): Promise<AuthAnswer> {
  const headers = [...response.headers].filter(([name]) => name === "set-cookie" || name === "location");
  const text = await response.text();
  if (text === "" || response.status >= 300) return { status: response.status, headers, body: "" };
  const { token: _, ...told } = { token: null, ...(JSON.parse(text) as Record<string, unknown> | null) };
  const session = told["session" as keyof typeof told] as Record<string, unknown> | null | undefined;
  if (session !== null && session !== undefined) delete session["token"];
  const body = JSON.parse(text) === null ? "null" : JSON.stringify(told);
  return { status: response.status, headers, body };
}
