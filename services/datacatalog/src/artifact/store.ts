import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Artifact,
  ArtifactSchema,
  MetadataSchema,
  PartitionSchema,
  TagSchema,
} from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { type DatasetKey, datasetIdOf, datasetText } from "../dataset/identifier.js";
import type { DatacatalogDeps } from "../deps.js";
import { missingEntity } from "../rpc-errors.js";
import { loadData, ArtifactBlobMissingError, type StoredData } from "./data.js";

interface ArtifactRow extends DatasetKey {
  readonly id: bigint;
  readonly uuid: string;
  readonly artifact_id: string;
  readonly metadata: Record<string, string>;
  readonly created_at: Date;
}

const COLUMNS = "a.id, a.artifact_id, a.metadata, a.created_at, d.project, d.domain, d.name, d.version, d.uuid";

/** Names one artifact; an id alone refers to the newest with this id. */
export type ArtifactHandle =
  | { readonly by: "id"; readonly dataset: DatasetKey | undefined; readonly artifactId: string }
  | { readonly by: "tag"; readonly dataset: DatasetKey; readonly tagName: string };

/** @throws RpcError NOT_FOUND. */
export async function findArtifact(db: Queryable, handle: ArtifactHandle): Promise<ArtifactRow> {
  const { dataset } = handle;
  const key = dataset === undefined ? [] : [dataset.project, dataset.domain, dataset.name, dataset.version];
  const isDataset = "d.project = $2 AND d.domain = $3 AND d.name = $4 AND d.version = $5";
  switch (handle.by) {
    case "id": {
      const { rows } = await db.query<ArtifactRow>({
        name: dataset === undefined ? "find-artifact-anywhere" : "find-artifact",
        text: `SELECT ${COLUMNS} FROM artifacts AS a JOIN datasets AS d ON d.id = a.dataset_id
          WHERE a.artifact_id = $1 ${dataset === undefined ? "" : `AND ${isDataset} `}ORDER BY a.created_at DESC LIMIT 1`,
        values: [handle.artifactId, ...key],
      });
      const [row] = rows;
      if (row === undefined) {
        throw missingEntity("Artifact", `${handle.artifactId}${dataset === undefined ? "" : ` of dataset ${datasetText(dataset)}`}`);
      }
      return row;
    }
    case "tag": {
      const { rows } = await db.query<ArtifactRow>({
        name: "find-artifact-by-tag",
        text: `SELECT ${COLUMNS} FROM tags AS t JOIN datasets AS d ON d.id = t.dataset_id JOIN artifacts AS a ON a.id = t.artifact
          WHERE t.name = $1 AND ${isDataset}`,
        values: [handle.tagName, ...key],
      });
      const [row] = rows;
      if (row === undefined) throw missingEntity("Tag", `${handle.tagName} of dataset ${datasetText(handle.dataset)}`);
      return row;
    }
  }
}

interface PartRow {
  readonly artifact: bigint;
  readonly name: string;
  readonly value: string;
}

/** Reads the artifacts completely, in the given order. */
export async function readArtifacts(deps: Pick<DatacatalogDeps, "db" | "blobs">, ids: readonly bigint[]): Promise<Artifact[]> {
  if (ids.length === 0) return [];
  // Blobs are deleted after a change is committed, so a second read finds the new rows with their
  // blobs, unless they change again.
  let missed = "";
  for (;;) {
    try {
      return await readOnce(deps, ids);
    } catch (error) {
      if (!(error instanceof ArtifactBlobMissingError) || error.location === missed) throw error;
      missed = error.location;
    }
  }
}

async function readOnce({ db, blobs }: Pick<DatacatalogDeps, "db" | "blobs">, ids: readonly bigint[]): Promise<Artifact[]> {
  const values = [ids];
  const [artifacts, data, partitions, tags] = await Promise.all([
    db.query<ArtifactRow>({
      name: "read-artifacts",
      text: `SELECT ${COLUMNS} FROM artifacts AS a JOIN datasets AS d ON d.id = a.dataset_id WHERE a.id = ANY ($1::bigint[])`,
      values,
    }),
    db.query<StoredData & { artifact: bigint }>({
      name: "read-artifact-data",
      text: "SELECT artifact, name, value, location FROM artifact_data WHERE artifact = ANY ($1::bigint[]) ORDER BY artifact, position",
      values,
    }),
    db.query<PartRow>({
      name: "read-artifact-partitions",
      text: "SELECT artifact, key AS name, value FROM artifact_partitions WHERE artifact = ANY ($1::bigint[]) ORDER BY artifact, position",
      values,
    }),
    db.query<PartRow>({
      name: "read-artifact-tags",
      text: "SELECT artifact, name, '' AS value FROM tags WHERE artifact = ANY ($1::bigint[]) ORDER BY artifact, created_at, name",
      values,
    }),
  ]);
  const dataOf = Map.groupBy(data.rows, (row) => row.artifact);
  const partitionsOf = Map.groupBy(partitions.rows, (row) => row.artifact);
  const tagsOf = Map.groupBy(tags.rows, (row) => row.artifact);
  const rows = new Map(artifacts.rows.map((row) => [row.id, row]));
  const result = await Promise.all(
    ids.map(async (id) => {
      const row = rows.get(id);
      // Artifacts are never deleted.
      if (row === undefined) throw new Error(`artifact ${id} no longer exists`);
      const loaded = await loadData({ blobs }, dataOf.get(id) ?? []);
      const dataset = datasetIdOf(row);
      return create(ArtifactSchema, {
        id: row.artifact_id,
        dataset,
        data: loaded,
        metadata: create(MetadataSchema, { keyMap: row.metadata }),
        partitions: (partitionsOf.get(id) ?? []).map(({ name, value }) => create(PartitionSchema, { key: name, value })),
        tags: (tagsOf.get(id) ?? []).map(({ name }) => create(TagSchema, { name, artifactId: row.artifact_id, dataset })),
        createdAt: timestampFromDate(row.created_at),
      });
    }),
  );
  return result;
}
