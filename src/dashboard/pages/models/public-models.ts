import { useQuery } from "@connectrpc/connect-query";
import { PublicCatalogService } from "#gen/saldo/gateway/v1/public_catalog_service_pb.ts";

const REFRESH_MS = 60_000;

/** The models that can be called, with their prices; it needs no session. */
export function usePublicModels() {
  return useQuery(PublicCatalogService.method.listPublicModels, {}, { refetchInterval: REFRESH_MS });
}
