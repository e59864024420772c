import { WrappedName } from "./wrapped-name.tsx";

/** The whole id of a model. */
export function ModelId({ id }: { readonly id: string }) {
  return (
    <span className="font-mono text-[0.8125rem]">
      <WrappedName name={id} />
    </span>
  );
}
