// The person's factors besides the password: the app, recovery codes, passkeys; adding and removing them.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type FactorState, makeRecoveryCodes, readFactors, removeApp, setUpApp } from "../../api/second-factor.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { useNotify } from "../../components/notices.tsx";
import { Failed, SkeletonLines } from "../../components/states.tsx";
import { Factor, RemoveDialog } from "./factor-parts.tsx";
import { Passkeys } from "./passkeys.tsx";
import { ProofProblem, useProof } from "./proof-forms.tsx";
import { RecoveryCodesDialog } from "./recovery-codes-dialog.tsx";
import { FACTOR_MESSAGES } from "./second-factor-messages.ts";
import { SetUpAppDialog } from "./set-up-app-dialog.tsx";

const FACTORS_KEY = ["second-factor"];

/** The card. `isAlone`: the page has its heading. */
export function SecondFactorCard({ isAlone = false }: { readonly isAlone?: boolean }) {
  const messages = useMessages(FACTOR_MESSAGES);
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({ queryKey: FACTORS_KEY, queryFn: readFactors });
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const making = useProof(() => {});
  const makeCodes = () => making.run(async () => setCodes(await makeRecoveryCodes()));
  const refresh = async () => {
    const isFirst = data !== undefined && data.recoveryCodesLeft === 0;
    // A person without recovery codes who loses the phone loses the account.
    if (isFirst) await makeCodes();
    await queries.invalidateQueries();
  };
  return (
    <Card title={messages.title}>
      {isAlone ? null : <p className="mb-4 text-muted">{messages.about}</p>}
      {data === undefined && error === null ? <SkeletonLines /> : null}
      {error !== null && data === undefined ? <Failed error={error} retry={() => void refetch()} /> : null}
      {data === undefined ? null : (
        <div className="flex flex-col gap-5">
          <App state={data} onChanged={refresh} />
          <Passkeys passkeys={data.passkeys} onChanged={refresh} />
          {data.hasApp || data.passkeys.length > 0 ? (
            <RecoveryCodes left={data.recoveryCodesLeft} busy={making.isBusy} onMake={() => void makeCodes()} />
          ) : null}
          <div aria-live="polite">{making.error === null ? null : <ProofProblem error={making.error} />}</div>
        </div>
      )}
      <RecoveryCodesDialog
        codes={codes}
        onSaved={() => {
          setCodes(null);
          void queries.invalidateQueries({ queryKey: FACTORS_KEY });
        }}
      />
    </Card>
  );
}

function App({ state, onChanged }: { readonly state: FactorState; readonly onChanged: () => Promise<void> }) {
  const messages = useMessages(FACTOR_MESSAGES);
  const notify = useNotify();
  const [app, setApp] = useState<{ secret: string; uri: string } | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const beginning = useProof(() => {});
  return (
    <>
      <Factor
        name={
          <>
            {messages.app}
            <Badge tone={state.hasApp ? "good" : "neutral"}>{state.hasApp ? messages.appOn : messages.appOff}</Badge>
          </>
        }
      >
        {state.hasApp ? (
          <Button onClick={() => setRemoving(true)}>{messages.remove}</Button>
        ) : (
          <Button
            variant="action"
            busy={beginning.isBusy}
            onClick={() => void beginning.run(async () => setApp(await setUpApp()))}
          >
            {messages.setUp}
          </Button>
        )}
      </Factor>
      <div aria-live="polite">{beginning.error === null ? null : <ProofProblem error={beginning.error} />}</div>
      <SetUpAppDialog
        app={app}
        onClose={() => setApp(null)}
        onAdded={() => {
          setApp(null);
          notify(messages.appAdded);
          void onChanged();
        }}
      />
      <RemoveDialog
        open={isRemoving}
        title={messages.removeAppTitle}
        onClose={() => setRemoving(false)}
        onRemove={removeApp}
        onRemoved={onChanged}
      />
    </>
  );
}

function RecoveryCodes({
  left,
  busy,
  onMake,
}: {
  readonly left: number;
  readonly busy: boolean;
  readonly onMake: () => void;
}) {
  const messages = useMessages(FACTOR_MESSAGES);
  const [isAsking, setAsking] = useState(false);
  const make = () => {
    setAsking(false);
    onMake();
  };
  return (
    <Factor name={messages.codes} about={left === 0 ? messages.codesNone : messages.codesLeft(String(left))}>
      <Button busy={busy} onClick={left === 0 ? make : () => setAsking(true)}>
        {messages.codesMake}
      </Button>
      <Dialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={messages.codesReplace}
        about={messages.codesReplaceAbout}
      >
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={() => setAsking(false)}>{messages.cancel}</Button>
          <Button variant="action" onClick={make}>
            {messages.codesMake}
          </Button>
        </div>
      </Dialog>
    </Factor>
  );
}
