import {
  bindingsFrom,
  createGuard,
  type Guard,
  platformRules,
  reports,
  requireRules,
  rulesFor,
  type RulesOf,
  type Scope,
} from "@flyte-ts/auth";
import { createVerifier, issuersFrom } from "@flyte-ts/auth/tokens";
import { DataCatalog, type DatasetID } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import type { RpcServer } from "@flyte-ts/rpc";
import type { CatalogAuth } from "./config.js";

const at = (dataset: DatasetID | undefined): Scope => ({ kind: "project", project: dataset?.project ?? "", domain: dataset?.domain ?? "" });
const ofDataset = reports("engine", ({ dataset }: { dataset?: DatasetID }) => at(dataset));
const ofReservation = reports("engine", ({ reservationId }: { reservationId?: { datasetId?: DatasetID } }) => at(reservationId?.datasetId));

/** Propellers are the catalog's only clients: they report facts of their own, which are not audited. */
const rules: RulesOf<typeof DataCatalog> = {
  createDataset: reports("engine", ({ dataset }) => at(dataset?.id)),
  getDataset: ofDataset,
  createArtifact: reports("engine", ({ artifact }) => at(artifact?.dataset)),
  getArtifact: ofDataset,
  addTag: reports("engine", ({ tag }) => at(tag?.dataset)),
  listArtifacts: ofDataset,
  listDatasets: reports("engine", () => ({ kind: "everywhere" })),
  updateArtifact: ofDataset,
  getOrExtendReservation: ofReservation,
  releaseReservation: ofReservation,
};

/** Creates the catalog's guard. The default audience is the issuer's own address, as in admin. */
export function catalogGuard(
  { headerKey, providers, roles }: CatalogAuth,
  clock: () => Date,
): Guard & { readonly requireComplete: (server: Pick<RpcServer, "services">) => void } {
  const table = new Map([...rulesFor(DataCatalog, rules), ...platformRules]);
  const issuers = providers
    .flatMap((provider) => issuersFrom([provider], { audience: [provider.issuer], clock }))
    .map(({ issuer }) => issuer);
  const bindings = bindingsFrom(roles, providers[0]?.issuer ?? "");
  const guard = createGuard({ table, headerKey, verify: createVerifier({ issuers, clock }), bindings: async () => bindings, clock });
  return { ...guard, requireComplete: ({ services }) => requireRules(services, table) };
}
