// Dialogs and views out of files of their own: a page is shown before what is opened on it has come.

import { type ComponentType, type ReactNode, Suspense, use, useEffect } from "react";

/** Makes a part that shows what a file has, given its properties; null shows nothing. The file is fetched once the page stands. */
export function later<Name extends string, Props extends object>(
  load: () => Promise<Readonly<Record<Name, (props: Props) => ReactNode>>>,
  name: Name,
) {
  let loading: ReturnType<typeof load> | null = null;
  // What failed is asked for again when it is opened anew.
  const loadOnce = () =>
    (loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    }));
  function Loaded(props: Props) {
    const Part: ComponentType<Props> = use(loadOnce())[name];
    return <Part {...props} />;
  }
  return function Later({ given }: { readonly given: Props | null }) {
    useEffect(() => {
      loadOnce().catch(() => {}); // it is told of when it is opened
    }, []);
    return given === null ? null : (
      <Suspense fallback={null}>
        <Loaded {...given} />
      </Suspense>
    );
  };
}
