// Preloads the files of the page that an address names, in parallel with the program. The build writes a table of these
// files into the one HTML page.

import type { Plugin, Rolldown } from "vite";

/** "pages/usage/usage-page.tsx" is the page of "/usage". */
const PAGE = /\/pages\/[^/]+\/([^/]+)-page\.tsx$/;
/** The pages of "/", and those that a stranger sees instead of the page for signing in. */
const PLACES = {
  home: "overview",
  welcome: "welcome",
  signIn: "sign-in",
  open: ["welcome", "sign-in", "sign-up", "forgot-password", "reset-password", "models", "docs"],
};

/** Puts the table, and its script, at the head of the built page: before the style sheet, which scripts wait for. */
export function preloadPages(): Plugin {
  return {
    name: "saldo-preload-pages",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler: (html, { bundle = {} }) =>
        html.replace("</title>", (end) => `${end}\n    <script>${script(bundle)}</script>`),
    },
  };
}

function script(bundle: Rolldown.OutputBundle): string {
  return `(${preload.toString()})(new Map(${JSON.stringify(filesByPage(bundle))}), ${JSON.stringify(PLACES)})`;
}

/** Runs in the browser. The program later fetches the page of an address that is not in the table. */
function preload(table: ReadonlyMap<string, readonly string[]>, { home, welcome, signIn, open }: typeof PLACES): void {
  const isStranger = document.querySelector('meta[name="saldo-stranger"]') !== null;
  const named = location.pathname.split("/")[1] || (isStranger ? welcome : home);
  const name = isStranger && table.has(named) && !open.includes(named) ? signIn : named;
  for (const file of table.get(name) ?? []) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = file;
    document.head.append(link);
  }
}

/** The files of each page, by the first segment of its address, without those that every page has. */
function filesByPage(bundle: Rolldown.OutputBundle): [name: string, files: string[]][] {
  const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
  const entry = chunks.find(({ isEntry }) => isEntry);
  const always = entry === undefined ? new Set<string>() : withImports(entry, bundle);
  return chunks.flatMap((chunk) => {
    const name = PAGE.exec(chunk.facadeModuleId ?? "")?.[1];
    const files = [...withImports(chunk, bundle)].filter((file) => !always.has(file));
    return name === undefined ? [] : [[name, files.map((file) => `/${file}`)]];
  });
}

function withImports(chunk: Rolldown.OutputChunk, bundle: Rolldown.OutputBundle): Set<string> {
  const found = new Set([chunk.fileName]);
  for (const file of found) {
    const at = bundle[file];
    if (at?.type === "chunk") for (const imported of at.imports) found.add(imported);
  }
  return found;
}
