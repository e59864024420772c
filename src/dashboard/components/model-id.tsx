import { Fragment } from "react";

/** The whole id of a model. It wraps after punctuation, and within a word only where there is no room otherwise. */
export function ModelId({ id }: { readonly id: string }) {
  const pieces = id.split(/(?<=[/:.-])/);
  return (
    <span className="inline-block min-w-28 font-mono text-[0.8125rem] wrap-anywhere">
      {pieces.map((piece, at) => (
        <Fragment key={pieces.slice(0, at).join("")}>
          {at === 0 ? null : <wbr />}
          {piece}
        </Fragment>
      ))}
    </span>
  );
}
