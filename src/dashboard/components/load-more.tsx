import { useWords, type Words } from "../i18n/language.tsx";
import { Button } from "./button.tsx";
import { Failed } from "./states.tsx";

const WORDS = { id: { more: "Muat lebih banyak" }, en: { more: "Load more" } } satisfies Words<Record<string, string>>;

type Pages = {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isFetchNextPageError: boolean;
  readonly error: unknown;
  readonly fetchNextPage: () => unknown;
};

/** The button under a list that comes in pages, while there is a next one; one that could not be had says so. `pages` is the query. */
export function LoadMore({ pages }: { readonly pages: Pages }) {
  const words = useWords(WORDS);
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage } = pages;
  if (!hasNextPage) return null;
  return (
    <div className="p-4">
      {isFetchNextPageError && !isFetchingNextPage ? (
        <Failed error={error} retry={() => void fetchNextPage()} />
      ) : (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {words.more}
        </Button>
      )}
    </div>
  );
}
