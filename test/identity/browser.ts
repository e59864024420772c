// A browser: it keeps cookies, and sends the origin of a request.

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Record<string, unknown>;
  readonly setCookies: readonly string[];
};

export class Browser {
  readonly #base: string;
  readonly #jar = new Map<string, string>();

  constructor(base: string) {
    this.#base = base;
  }

  /** The Cookie header it sends. */
  cookies(): string {
    return [...this.#jar].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  cookie(name: string): string | null {
    return this.#jar.get(name) ?? null;
  }

  /** The same with the cookies of a Cookie header. */
  with(cookies: string): this {
    for (const pair of cookies.split("; ")) this.#keep(pair);
    return this;
  }

  /** Posts JSON below /auth. */
  auth(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("POST", `/auth${path}`, { "content-type": "application/json", ...headers }, JSON.stringify(body));
  }

  /** Sends a form below /auth, as a page without scripts does. */
  form(path: string, fields: Record<string, string>): Promise<Answer> {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return this.send("POST", `/auth${path}`, headers, new URLSearchParams(fields).toString());
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("GET", path, { "sec-fetch-site": "same-origin", ...headers });
  }

  /** Opens an address as a click in a mail does. */
  open(url: string): Promise<Answer> {
    return this.send("GET", url.slice(new URL(url).origin.length), { "sec-fetch-site": "cross-site" });
  }

  /** Calls a method by Connect. */
  async rpcStatus(method: string, request: unknown = {}, headers: Record<string, string> = {}): Promise<Answer> {
    const type = { "content-type": "application/json", ...headers };
    return this.send("POST", `/saldo.${method}`, type, JSON.stringify(request));
  }

  /** Calls a method that must succeed. */
  async rpc<Json = Record<string, unknown>>(method: string, request: unknown = {}): Promise<Json> {
    const answer = await this.rpcStatus(method, request);
    if (answer.status !== 200) throw new Error(`${method} answered ${answer.status}: ${answer.text}`);
    return answer.json as Json;
  }

  async send(method: string, path: string, headers: Record<string, string>, body?: string): Promise<Answer> {
    const response = await fetch(this.#base + path, {
      method,
      redirect: "manual",
      headers: {
        ...(method === "GET" ? {} : { origin: this.#base }),
        ...(this.#jar.size === 0 ? {} : { cookie: this.cookies() }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    const setCookies = response.headers.getSetCookie();
    for (const line of setCookies) this.#keep(line);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true && text !== "";
    const json = (isJson ? JSON.parse(text) : {}) as Record<string, unknown> | null;
    return { status: response.status, headers: response.headers, text, json: json ?? {}, setCookies };
  }

  #keep(line: string): void {
    const [pair = "", ...attributes] = line.split("; ");
    const at = pair.indexOf("=");
    const name = pair.slice(0, at);
    if (attributes.includes("Max-Age=0")) this.#jar.delete(name);
    else this.#jar.set(name, pair.slice(at + 1));
  }
}
