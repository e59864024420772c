import { CopyButton } from "./copy.tsx";

/** A secret that is shown once, with its name and a button to copy it. */
export function Secret({
  name,
  text,
  about,
}: {
  readonly name: string;
  readonly text: string;
  readonly about?: string;
}) {
  return (
    <section className="flex min-w-0 flex-col gap-1.5">
      <h3 className="text-[0.8125rem] font-medium">{name}</h3>
      <div className="flex items-start gap-2">
        <code className="min-w-0 flex-1 rounded-lg bg-sunken px-3 py-2 font-mono text-[0.8125rem] break-all">
          {text}
        </code>
        <CopyButton text={text} what={name} />
      </div>
      {about === undefined ? null : <p className="text-xs text-muted">{about}</p>}
    </section>
  );
}
