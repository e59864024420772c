import { useQuery } from "@connectrpc/connect-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Code, RotateCcw } from "lucide-react";
import { useEffect, useState } from "react";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { OwnBudget } from "../keys/own-budget.tsx";
import { firstModelOf, isEmbeddings } from "../models/first-model.ts";
import { MODELS_MESSAGES } from "../models/models-messages.ts";
import { CodeDialog } from "./code-dialog.tsx";
import { Composer } from "./composer.tsx";
import { type Exchange, shownRequest, turnsOf } from "./conversation.ts";
import { TurnView } from "./exchange-view.tsx";
import { PLAYGROUND_MESSAGES } from "./playground-messages.ts";
import { FIRST_SETTINGS, readSettings, SettingsCard } from "./settings-card.tsx";
import { type Pair, usePair } from "./use-pair.ts";

/** Within this distance the reader counts as being at the end. */
const NEAR_END_PX = 240;

/** The playground: calls models from the browser. */
export function PlaygroundPage() {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  const models = useMessages(MODELS_MESSAGES);
  const { model: wanted, compare } = useSearch({ from: "/inside/playground" });
  const { data, error, refetch } = useQuery(GatewayService.method.listModels, {});
  const all = data?.data ?? [];
  const model = all.find(({ id }) => id === wanted) ?? firstModelOf(all);
  const other = all.find((each) => each.id === compare && each.id !== model?.id && !isEmbeddings(each));
  if (model !== undefined)
    return <Playground models={all} model={model} other={isEmbeddings(model) ? undefined : other} />;
  return (
    <Page title={messages.title} about={messages.about}>
      {error === null ? (
        data === undefined ? (
          <SkeletonLines lines={8} />
        ) : (
          <Empty title={models.empty}>{models.emptyAbout}</Empty>
        )
      ) : (
        <Failed error={error} retry={() => void refetch()} />
      )}
    </Page>
  );
}

type PlaygroundProps = {
  readonly models: readonly Model[];
  readonly model: Model;
  /** The model that answers beside it. */
  readonly other: Model | undefined;
};

function Playground({ models, model, other }: PlaygroundProps) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  const navigate = useNavigate();
  const [typed, setTyped] = useState(FIRST_SETTINGS);
  const [draft, setDraft] = useState("");
  const [isCodeShown, showCode] = useState(false);
  const settings = readSettings(typed, model);
  const pair = usePair(model, other, settings);
  const send = () => {
    const question = draft.trim();
    if (question === "" || settings === null || pair.isRunning) return;
    pair.ask(question);
    setDraft("");
  };
  const { exchanges } = pair;
  const choose = (search: { readonly model: string; readonly compare: string | undefined }) => {
    const { compare } = search;
    void navigate({
      to: "/playground",
      search: { model: search.model, ...(compare === undefined ? {} : { compare }) },
      replace: true,
    });
  };
  return (
    <Page
      title={messages.title}
      about={messages.about}
      actions={
        <>
          {exchanges.length === 0 ? null : (
            <Button icon={<RotateCcw aria-hidden />} onClick={pair.clear}>
              {messages.clear}
            </Button>
          )}
          <Button icon={<Code aria-hidden />} disabled={settings === null} onClick={() => showCode(true)}>
            {messages.code}
          </Button>
        </>
      }
    >
      <OwnBudget />
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <Card className="flex flex-col gap-5 lg:min-h-[70dvh]">
          <div role="log" aria-label={messages.conversation} aria-busy={pair.isRunning} className="flex-1">
            {exchanges.length === 0 ? <Prompts onChoose={setDraft} /> : null}
            <Turns pair={pair} />
          </div>
          <Composer
            draft={draft}
            onDraft={setDraft}
            onSend={send}
            onStop={pair.isRunning ? pair.stop : null}
            isReady={settings !== null}
          />
        </Card>
        <SettingsCard
          models={models}
          model={model}
          typed={typed}
          onTyped={setTyped}
          onModel={(id) => choose({ model: id, compare: other?.id })}
          other={other}
          onOther={(id) => choose({ model: model.id, compare: id })}
        />
      </div>
      {isCodeShown && settings !== null ? (
        <CodeDialog
          shown={shownRequest({ model: model.id, draft, example: messages.prompt1, settings }, exchanges)}
          onClose={() => showCode(false)}
        />
      ) : null}
    </Page>
  );
}

function Turns({ pair: { exchanges, others, askAgain, askOtherAgain } }: { readonly pair: Pair }) {
  useFollowedEnd(exchanges, others);
  const turns = turnsOf(exchanges, others);
  return (
    <ol className="flex flex-col gap-6">
      {turns.map(({ exchange, other }, index) => {
        const isLast = index === turns.length - 1;
        return (
          <TurnView
            key={exchange.id}
            question={exchange.question}
            answers={[
              { exchange, retry: isLast ? askAgain : null },
              ...(other === null ? [] : [{ exchange: other, retry: isLast ? askOtherAgain : null }]),
            ]}
          />
        );
      })}
    </ol>
  );
}

/** A reader at the end of the page stays there while an answer grows; one who has scrolled up is not moved. */
function useFollowedEnd(exchanges: readonly Exchange[], others: readonly Exchange[]): void {
  useEffect(() => {
    if (exchanges.length === 0) return;
    const { scrollHeight } = document.documentElement;
    if (scrollHeight - window.innerHeight - window.scrollY < NEAR_END_PX) window.scrollTo({ top: scrollHeight });
  }, [exchanges, others]);
}

function Prompts({ onChoose }: { readonly onChoose: (prompt: string) => void }) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  return (
    <div className="flex flex-col gap-3">
      <div>
        <h2 className="text-base font-semibold">{messages.tryThese}</h2>
        <p className="text-muted">{messages.tryAbout}</p>
      </div>
      <ul className="grid gap-2 sm:grid-cols-2">
        {[messages.prompt1, messages.prompt2, messages.prompt3, messages.prompt4].map((prompt) => (
          <li key={prompt} className="flex">
            <button
              type="button"
              onClick={() => onChoose(prompt)}
              className="w-full rounded-lg border border-line p-3 text-left hover:bg-sunken"
            >
              {prompt}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
