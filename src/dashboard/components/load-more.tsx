import { useMessages, type Messages } from "../i18n/language.tsx";
import { Button } from "./button.tsx";
import { Failed } from "./states.tsx";

const MESSAGES = { id: { more: "Muat lebih banyak" }, en: { more: "Load more" } } satisfies Messages<
  Record<string, string>
>;

type Pages = {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isFetchNextPageError: boolean;
  readonly error: unknown;
  readonly fetchNextPage: () => unknown;
};

/**
 * The button below a list that loads in pages, while there is a next one; it shows when loading failed. `pages` is the
 * query.
 */
export function LoadMore({ pages }: { readonly pages: Pages }) {
  const messages = useMessages(MESSAGES);
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage } = pages;
  if (!hasNextPage) return null;
  return (
    <div className="p-4">
      {isFetchNextPageError && !isFetchingNextPage ? (
        <Failed error={error} retry={() => void fetchNextPage()} />
      ) : (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {messages.more}
        </Button>
      )}
    </div>
  );
}
