// The text of an answer. It is shown as it is until the code that renders Markdown is loaded, and where that fails.

import { type ComponentType, useEffect, useState } from "react";

type Rendering = ComponentType<{ readonly text: string }>;

/** Once loaded, it is there for every answer. */
let loaded: Rendering | null = null;

/** Renders an answer as Markdown, as soon as it can. */
export function AnswerText({ text }: { readonly text: string }) {
  const Markdown = useMarkdown();
  return Markdown === null ? <p className="wrap-anywhere whitespace-pre-wrap">{text}</p> : <Markdown text={text} />;
}

function useMarkdown(): Rendering | null {
  const [rendering, setRendering] = useState<Rendering | null>(() => loaded);
  useEffect(() => {
    let isGone = false;
    const load = async () => {
      try {
        loaded ??= (await import("./answer-markdown.tsx")).AnswerMarkdown;
        if (!isGone) setRendering(() => loaded);
      } catch {
        // The answer stays readable as text; the next visit tries again.
      }
    };
    void load();
    return () => {
      isGone = true;
    };
  }, []);
  return rendering;
}
