import { useQuery } from "@connectrpc/connect-query";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { useWords } from "../../i18n/language.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Page } from "../../components/page.tsx";
import { SecondFactorCard } from "./second-factor-card.tsx";
import { FACTOR_WORDS } from "./second-factor-words.ts";

/** Where a person is sent who must set up a second factor before anything else. */
export function SecondFactorPage() {
  const words = useWords(FACTOR_WORDS);
  const { data } = useQuery(AccountsService.method.getMe, {});
  const isSetUp = data?.secondFactor?.isSetUp === true;
  return (
    <Page title={isSetUp ? words.title : words.requiredTitle} about={isSetUp ? words.done : words.requiredAbout}>
      <div className="max-w-2xl">
        <SecondFactorCard isAlone />
      </div>
      {isSetUp ? (
        <LinkButton to="/" look="action" className="self-start">
          {words.continue}
        </LinkButton>
      ) : null}
    </Page>
  );
}
