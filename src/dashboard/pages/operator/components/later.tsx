// Dialogs and views in files of their own: a page is shown before the parts that open on it are loaded.

import { type ComponentType, type ReactNode, useEffect, useState } from "react";
import { isReachable } from "../../../api/reachable.ts";
import { Failed } from "../../../components/states.tsx";

/**
 * Makes a component of a file's export, given its properties; null shows nothing. The file is fetched once the page is
 * shown, and `waiting` is shown until it has loaded.
 */
export function later<Name extends string, Props extends object>(
  load: () => Promise<Readonly<Record<Name, (props: Props) => ReactNode>>>,
  name: Name,
  waiting: ReactNode = null,
) {
  // Once loaded, it is there for every page that is opened later.
  let come: ComponentType<Props> | null = null;

  return function Later({ given }: { readonly given: Props | null }) {
    const [Part, setPart] = useState<ComponentType<Props> | null>(() => come);
    const [failed, setFailed] = useState<{ readonly error: unknown } | null>(null);
    const [tries, setTries] = useState(0);

    useEffect(() => {
      let isGone = false;
      const fetchPart = async () => {
        try {
          come ??= (await load())[name];
          if (!isGone) setPart(() => come);
        } catch (error) {
          // A second attempt failed while the server can be reached: the file is one of an earlier build.
          if (tries > 0 && !isGone && (await isReachable())) window.location.reload();
          if (!isGone) setFailed({ error });
        }
      };
      void fetchPart();
      return () => {
        isGone = true;
      };
    }, [tries]);

    if (given === null) return null;
    if (Part !== null) return <Part {...given} />;
    if (failed === null) return waiting;
    const retry = () => {
      setFailed(null);
      setTries(tries + 1);
    };
    return (
      <div className="fixed inset-x-4 bottom-4 z-50 mx-auto max-w-lg">
        <Failed error={failed.error} retry={retry} />
      </div>
    );
  };
}
