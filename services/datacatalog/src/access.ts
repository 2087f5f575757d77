import {
  bindingsFrom,
  createGuard,
  type Guard,
  platformRules,
  reportRule,
  assertAllMethodsHaveRules,
  ruleEntries,
  type RulesOf,
  type Scope,
} from "@flyte-ts/auth";
import { createVerifier, issuersFrom } from "@flyte-ts/auth/tokens";
import { DataCatalog, type DatasetID } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import type { RpcServer } from "@flyte-ts/rpc";
import type { CatalogAuth } from "./config.js";

const projectScope = (dataset: DatasetID | undefined): Scope => ({
  kind: "project",
  project: dataset?.project ?? "",
  domain: dataset?.domain ?? "",
});
const ofDataset = reportRule("engine", ({ dataset }: { dataset?: DatasetID }) => projectScope(dataset));
const ofReservation = reportRule("engine", ({ reservationId }: { reservationId?: { datasetId?: DatasetID } }) =>
  projectScope(reservationId?.datasetId),
);

/**
 * Propellers are the catalog's only clients: they report facts of their own, which are not audited.
 */
const rules: RulesOf<typeof DataCatalog> = {
  createDataset: reportRule("engine", ({ dataset }) => projectScope(dataset?.id)),
  getDataset: ofDataset,
  createArtifact: reportRule("engine", ({ artifact }) => projectScope(artifact?.dataset)),
  getArtifact: ofDataset,
  addTag: reportRule("engine", ({ tag }) => projectScope(tag?.dataset)),
  listArtifacts: ofDataset,
  listDatasets: reportRule("engine", () => ({ kind: "everywhere" })),
  updateArtifact: ofDataset,
  getOrExtendReservation: ofReservation,
  releaseReservation: ofReservation,
};

/** Creates the catalog's guard. The default audience is the issuer's own address, as in admin. */
export function catalogGuard(
  { headerKey, providers, roles }: CatalogAuth,
  clock: () => Date,
): Guard & { readonly requireComplete: (server: Pick<RpcServer, "services">) => void } {
  const table = new Map([...ruleEntries(DataCatalog, rules), ...platformRules]);
  const issuers = providers
    .flatMap((provider) => issuersFrom([provider], { audience: [provider.issuer], clock }))
    .map(({ issuer }) => issuer);
  const bindings = bindingsFrom(roles, providers[0]?.issuer ?? "");
  const guard = createGuard({ table, headerKey, verify: createVerifier({ issuers, clock }), bindings: async () => bindings, clock });
  return { ...guard, requireComplete: ({ services }) => assertAllMethodsHaveRules(services, table) };
}
