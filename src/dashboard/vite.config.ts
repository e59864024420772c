// How the dashboard is built, and served during development. `npm run dev` starts Saldo's demo and this beside it.

import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { readMarkdown } from "./pages/docs/markdown.ts";
import { firstPaint } from "./pages/welcome/first-paint.ts";
import { preloadPages } from "./preload-pages.ts";
import { withoutRules } from "./without-rules.ts";

const root = fileURLToPath(new URL(".", import.meta.url));
/** Paths that the hot-reloading server does not know are proxied to Saldo. */
const SERVED_BY_SALDO =
  "^/(saldo\\.|auth/|v1/|sandbox/v1/|pay/|openapi\\.json|saldo-agents\\.tgz|llms\\.txt|docs/.*\\.md)";

/** A Markdown file is imported as its blocks, so that no page has to parse Markdown or HTML. */
const markdown: Plugin = {
  name: "saldo-markdown",
  transform: (text, id) => (id.endsWith(".md") ? `export default ${JSON.stringify(readMarkdown(text))}` : null),
};

export default defineConfig({
  root,
  plugins: [markdown, withoutRules(), react(), tailwindcss(), markAsDemo(), preloadPages(), welcome()],
  resolve: {
    alias: {
      "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js": fileURLToPath(
        new URL("api/no-rules.ts", import.meta.url),
      ),
    },
  },
  build: {
    outDir: fileURLToPath(new URL("../../.dashboard", import.meta.url)),
    emptyOutDir: true,
    assetsDir: "assets",
    // An image or font inside the style sheet would be refused by the content security policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    target: "es2023",
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Code that every page needs is one file: on a slow connection each file costs a round trip.
          groups: [{ name: "frame", tags: ["$initial"] }],
        },
      },
    },
  },
  server: {
    host: "127.0.0.1",
    port: 5173,
    proxy: {
      [SERVED_BY_SALDO]: { target: "http://127.0.0.1:3000", changeOrigin: false },
    },
  },
});

/** Saldo marks the page of a demo itself; the hot-reloading server proxies a demo. */
function markAsDemo(): Plugin {
  return {
    name: "saldo:demo",
    apply: "serve",
    transformIndexHtml: (html) => html.replace("</head>", '<meta name="saldo-demo" content="1" /></head>'),
  };
}

/** Writes the markup that the server puts into the page of strangers. */
function welcome(): Plugin {
  return {
    name: "saldo:welcome",
    apply: "build",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "welcome.html", source: firstPaint() });
    },
  };
}
