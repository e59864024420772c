import { useQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import { CatalogService } from "#gen/saldo/operator/v1/catalog_service_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Page } from "../../../components/page.tsx";
import { Segments } from "../../../components/segments.tsx";
import { Failed, SkeletonLines } from "../../../components/states.tsx";
import { useChangeAddress } from "../components/address.ts";
import { later } from "../components/later.tsx";
import { CatalogModels } from "./catalog-models.tsx";
import { CATALOG_MESSAGES } from "./catalog-messages.ts";

const CatalogDraft = later(() => import("./catalog-draft.tsx"), "CatalogDraft", <SkeletonLines />);
const CatalogHistory = later(() => import("./catalog-history.tsx"), "CatalogHistory", <SkeletonLines />);

type View = "live" | "draft" | "history";

/** The catalog: the live version, the draft in this browser, and the history. */
export function CatalogPage() {
  const messages = useMessages(CATALOG_MESSAGES);
  const formats = useFormats();
  const change = useChangeAddress();
  const search = useSearch({ from: "/inside/operator/catalog" });
  const { data, error, refetch } = useQuery(CatalogService.method.getCatalog, {});
  const view: View = search.view === "draft" || search.view === "history" ? search.view : "live";
  const version = data?.version ?? 0;
  return (
    <Page
      title={messages.title}
      about={version === 0 ? messages.noVersion : `${messages.versionNow}: ${formats.count(version)}`}
      actions={
        <Segments
          label={messages.view}
          value={view}
          choices={[
            { value: "live", label: messages.live },
            { value: "draft", label: messages.draft },
            { value: "history", label: messages.history },
          ]}
          onChange={(next) => change({ view: next === "live" ? undefined : next })}
        />
      }
    >
      {error === null ? null : <Failed error={error} retry={() => void refetch()} />}
      {data === undefined && error === null ? <SkeletonLines lines={8} /> : null}
      {data === undefined || view !== "live" ? null : <CatalogModels models={data.catalog?.models ?? []} />}
      <CatalogDraft given={data === undefined || view !== "draft" ? null : { live: data }} />
      <CatalogHistory given={view === "history" ? { live: data } : null} />
    </Page>
  );
}
