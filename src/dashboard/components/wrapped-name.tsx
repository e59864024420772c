import { Fragment } from "react";

/** An address, or another name without spaces, whole. It wraps after punctuation, and within a word only where there is no room otherwise. */
export function WrappedName({ name }: { readonly name: string }) {
  const pieces = name.split(/(?<=[/:.@-])/);
  return (
    <span className="inline-block min-w-28 wrap-anywhere">
      {pieces.map((piece, at) => (
        <Fragment key={pieces.slice(0, at).join("")}>
          {at === 0 ? null : <wbr />}
          {piece}
        </Fragment>
      ))}
    </span>
  );
}
