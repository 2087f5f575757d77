import type { DataCatalog, DatasetID } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { isUniqueViolation } from "@flyte-ts/postgres";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import { checkDatasetId, datasetText } from "../dataset/identifier.js";
import { findDataset } from "../dataset/store.js";
import type { DatacatalogDeps } from "../deps.js";
import { alreadyExists, requireNonEmpty, missingArgument, missingEntity } from "../rpc-errors.js";
import { artifactConditions } from "../list/filter.js";
import { nextToken, pageOf, selectPage } from "../list/page.js";
import { checkData, deleteBlobs, insertData, type StoredData, storeData } from "./data.js";
import { checkPartitions } from "./partitions.js";
import { type ArtifactHandle, findArtifact, readArtifacts } from "./store.js";

type Service = ServiceImplementation<typeof DataCatalog>;

/**
 * RPCs for outputs of runs. Artifacts are replaced as a whole, in one transaction: a reader sees
 * one version of all their data.
 */
export function artifactRpcs(deps: DatacatalogDeps): Pick<Service, "createArtifact" | "getArtifact" | "listArtifacts" | "updateArtifact"> {
  const { db } = deps;
  return {
    async createArtifact({ artifact }) {
      if (artifact === undefined) throw missingArgument("artifact");
      const { id: artifactId, dataset, data, metadata, partitions } = artifact;
      checkDatasetId(dataset);
      requireNonEmpty(artifactId, "artifactID");
      checkData(data);
      const { id: datasetId, partition_keys } = await findDataset(db, dataset);
      checkPartitions(partition_keys, partitions);
      const stored = await storeData(deps, { dataset, artifactId }, data);
      try {
        await db.transaction(async (tx) => {
          const { rows } = await tx.query<{ id: bigint }>({
            name: "create-artifact",
            text: "INSERT INTO artifacts (dataset_id, artifact_id, metadata) VALUES ($1, $2, $3) RETURNING id",
            values: [datasetId, artifactId, JSON.stringify(metadata?.keyMap ?? {})],
          });
          const { id } = rows[0] as { id: bigint };
          await insertData(tx, id, stored);
          if (partitions.length === 0) return;
          await tx.query({
            name: "insert-artifact-partitions",
            text: `INSERT INTO artifact_partitions (artifact, position, key, value)
              SELECT $1, position, key, value FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS partitions (key, value, position)`,
            values: [id, partitions.map(({ key }) => key), partitions.map(({ value }) => value)],
          });
        });
      } catch (error) {
        if (isUniqueViolation(error) === undefined) throw error;
        await deleteBlobs(deps, stored);
        throw alreadyExists(`artifact ${artifactId} of dataset ${datasetText(dataset)}`);
      }
      return {};
    },

    async getArtifact({ dataset, queryHandle }) {
      const row = await findArtifact(db, checkHandle(dataset, queryHandle));
      const [artifact] = await readArtifacts(deps, [row.id]);
      return artifact === undefined ? {} : { artifact };
    },

    async listArtifacts({ dataset, filter, pagination }) {
      checkDatasetId(dataset);
      const conditions = artifactConditions(filter);
      const page = pageOf(pagination);
      const { id } = await findDataset(db, dataset);
      const { rows } = await db.query<{ id: bigint }>(
        selectPage({
          columns: "id",
          table: "artifacts",
          conditions: [{ sql: (place) => `dataset_id = ${place(id)}` }, ...conditions],
          page,
        }),
      );
      const artifacts = await readArtifacts(
        deps,
        rows.map((row) => row.id),
      );
      return { artifacts, nextToken: nextToken(page, artifacts.length) };
    },

    async updateArtifact({ dataset, queryHandle, data, metadata }) {
      const handle = checkHandle(dataset, queryHandle);
      checkData(data);
      const artifact = await findArtifact(db, handle);
      const artifactId = artifact.artifact_id;
      const stored = await storeData(deps, { dataset: artifact, artifactId }, data);
      const before = await db.transaction(async (tx) => {
        // The row stays locked, so concurrent changes are serialized.
        const { rowCount } = await tx.query({
          name: "update-artifact",
          text: "UPDATE artifacts SET metadata = $2 WHERE id = $1",
          values: [artifact.id, JSON.stringify(metadata?.keyMap ?? {})],
        });
        if (rowCount === 0) throw missingEntity("Artifact", artifactId);
        const { rows } = await tx.query<StoredData>({
          name: "take-artifact-data",
          text: "DELETE FROM artifact_data WHERE artifact = $1 RETURNING name, value, location",
          values: [artifact.id],
        });
        await insertData(tx, artifact.id, stored);
        return rows;
      });
      await deleteBlobs(deps, before);
      return { artifactId };
    },
  };
}

type QueryHandle = { case: "artifactId"; value: string } | { case: "tagName"; value: string } | { case: undefined; value?: undefined };

function checkHandle(dataset: DatasetID | undefined, handle: QueryHandle): ArtifactHandle {
  switch (handle.case) {
    case "artifactId":
      if (dataset !== undefined) checkDatasetId(dataset);
      requireNonEmpty(handle.value, "artifactID");
      return { by: "id", dataset, artifactId: handle.value };
    case "tagName":
      checkDatasetId(dataset);
      requireNonEmpty(handle.value, "tagName");
      return { by: "tag", dataset, tagName: handle.value };
    case undefined:
      throw missingArgument("one of artifactID/tagName");
  }
}
