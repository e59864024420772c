// The dashboard's files: one page for every address that people open, and assets whose names change with their content. The
// page may load nothing from other sites and run no script but ours.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** The addresses of pages. A page itself reads the part of the path below it. */
const PAGE_PATHS = [
  "/",
  "/sign-in",
  "/sign-up",
  "/forgot-password",
  "/reset-password",
  "/usage",
  "/models",
  "/models/*",
  "/status",
  "/playground",
  "/keys",
  "/billing",
  "/transfers",
  "/transfers/sandbox",
  "/transfers/sandbox/*",
  "/transfers/production",
  "/transfers/production/*",
  "/settings",
  "/alerts",
  "/members",
  "/invite",
  "/second-factor",
  "/operator",
  "/operator/*",
  "/docs",
  "/docs/*",
] as const;

/** The element of the page in which the program renders. */
const ROOT = '<div id="root"></div>';
const INLINE_SCRIPT = /<script>([\s\S]*?)<\/script>/g;
const A_YEAR_SECONDS = 31_536_000;

/** The folder of the built dashboard. */
export const BUILT_DASHBOARD = new URL("../../../.dashboard/", import.meta.url);

export type DashboardOptions = {
  /** The folder of the built files. */
  readonly folder: URL;
  /** Marks the page, which then offers to sign in with one click. */
  readonly isDemo: boolean;
  /** Whether a Cookie header names a session. Without one, the page is marked as a stranger's, and asks for no session. */
  readonly hasSession: (cookies: string) => boolean;
};

/** A page with its compressed forms. */
type Document = { readonly plain: Buffer; readonly br: Buffer; readonly gzip: Buffer };

/** The one page, ready to be sent. */
export type Dashboard = {
  /** Serves the pages and their assets. */
  mount(app: FastifyInstance): void;
  /** Whether a browser has opened an unknown address. */
  isWanted(request: FastifyRequest): boolean;
  /** Sends the page, which reads the address itself. */
  send(request: FastifyRequest, reply: FastifyReply): FastifyReply;
};

/** Reads the built page. Null: the dashboard has not been built. */
export function createDashboard({ folder, isDemo, hasSession }: DashboardOptions): Dashboard | null {
  const source = readIfThere(new URL("index.html", folder));
  if (source === null) return null;
  const html = isDemo ? source.replace("</head>", '  <meta name="saldo-demo" content="1" />\n  </head>') : source;
  const forStrangers = html.replace("<head>", '<head>\n    <meta name="saldo-stranger" content="1" />');
  // What a stranger sees until the program has arrived. The program replaces it.
  const welcome = readIfThere(new URL("welcome.html", folder)) ?? "";
  const home = forStrangers.replace(ROOT, () => `<div id="root">${welcome}</div>`);
  const [inside, outside, outsideHome] = [html, forStrangers, home].map(documentOf) as [Document, Document, Document];
  const headers = pageHeaders(html);

  const send = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { url, headers: sent } = request;
    const isHome = url.split("?", 1)[0] === "/";
    const document = hasSession(sent.cookie ?? "") ? inside : isHome ? outsideHome : outside;
    const encoding = encodingFor(request);
    void reply.headers(headers).type("text/html; charset=utf-8");
    if (encoding === null) return reply.send(document.plain);
    return reply.header("content-encoding", encoding).send(document[encoding]);
  };
  return {
    send,
    isWanted: ({ method, headers: { accept = "" } }) =>
      (method === "GET" || method === "HEAD") && accept.includes("text/html"),
    mount(app) {
      for (const path of PAGE_PATHS) app.get(path, send);
      // Browsers and other clients ask for it unasked.
      app.get("/favicon.ico", (_request, reply) => reply.redirect("/favicon.svg", 301));
      app.register(fastifyStatic, {
        root: fileURLToPath(folder),
        // A route for each existing file.
        wildcard: false,
        globIgnore: ["index.html", "welcome.html", "built-from", "**/*.{br,gz}"],
        index: false,
        preCompressed: true,
        cacheControl: false,
        setHeaders: (response, path) => {
          const isHashed = path.includes("/assets/");
          void response.header("cache-control", isHashed ? `public, max-age=${A_YEAR_SECONDS}, immutable` : "no-cache");
          void response.header("x-content-type-options", "nosniff");
          if (path.endsWith(".svg")) void response.header("content-type", "image/svg+xml; charset=utf-8");
        },
      });
    },
  };
}

function documentOf(html: string): Document {
  const plain = Buffer.from(html);
  return { plain, br: brotliCompressSync(plain), gzip: gzipSync(plain) };
}

/** Null: uncompressed. Browsers accept Brotli over https alone. */
function encodingFor(request: FastifyRequest): "br" | "gzip" | null {
  const accepted = (request.headers["accept-encoding"] ?? "").split(",").flatMap((entry) => {
    const [encoding, weight] = entry.split(";").map((part) => part.trim());
    return weight !== undefined && Number(weight.slice("q=".length)) === 0 ? [] : [encoding];
  });
  return (["br", "gzip"] as const).find((encoding) => accepted.includes(encoding)) ?? null;
}

function readIfThere(file: URL): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null; // `npm start` builds it; a server that was started by hand serves everything but the dashboard
  }
}

function pageHeaders(html: string): Record<string, string> {
  const hashes = [...html.matchAll(INLINE_SCRIPT)].map(
    ([, script = ""]) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`,
  );
  const policy = [
    "default-src 'none'",
    `script-src ${["'self'", ...hashes].join(" ")}`,
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    "content-security-policy": policy.join("; "),
    "cache-control": "no-cache",
    vary: "accept-encoding, cookie",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
  };
}
