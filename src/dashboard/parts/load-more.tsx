import { useWords, type Words } from "../language/language.tsx";
import { Button } from "./button.tsx";

const WORDS = { id: { more: "Muat lebih banyak" }, en: { more: "Load more" } } satisfies Words<Record<string, string>>;

type Pages = {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => unknown;
};

/** The button under a list that comes in pages, while there is a next one. `pages` is the query. */
export function LoadMore({ pages }: { readonly pages: Pages }) {
  const words = useWords(WORDS);
  if (!pages.hasNextPage) return null;
  return (
    <div className="p-4">
      <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
        {words.more}
      </Button>
    </div>
  );
}
