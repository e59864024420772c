import { useQuery } from "@connectrpc/connect-query";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Page } from "../../components/page.tsx";
import { SecondFactorCard } from "./second-factor-card.tsx";
import { FACTOR_MESSAGES } from "./second-factor-messages.ts";

/** The page for people who must set up a second factor before anything else. */
export function SecondFactorPage() {
  const messages = useMessages(FACTOR_MESSAGES);
  const { data } = useQuery(AccountsService.method.getMe, {});
  const isSetUp = data?.secondFactor?.isSetUp === true;
  return (
    <Page
      title={isSetUp ? messages.title : messages.requiredTitle}
      about={isSetUp ? messages.done : messages.requiredAbout}
    >
      <div className="max-w-2xl">
        <SecondFactorCard isAlone />
      </div>
      {isSetUp ? (
        <LinkButton to="/" variant="action" className="self-start">
          {messages.continue}
        </LinkButton>
      ) : null}
    </Page>
  );
}
