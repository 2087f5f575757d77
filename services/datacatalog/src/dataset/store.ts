import { create } from "@bufbuild/protobuf";
import { type Dataset, DatasetSchema, MetadataSchema } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { missingEntity } from "../rpc-errors.js";
import { type DatasetKey, datasetIdOf, datasetText } from "./identifier.js";

export interface DatasetRow extends DatasetKey {
  readonly id: bigint;
  readonly uuid: string;
  readonly metadata: Record<string, string>;
  readonly partition_keys: string[];
}

export const datasetColumns = "id, project, domain, name, version, uuid, metadata, partition_keys";

export function datasetOf(row: DatasetRow): Dataset {
  return create(DatasetSchema, {
    id: datasetIdOf(row),
    metadata: create(MetadataSchema, { keyMap: row.metadata }),
    partitionKeys: row.partition_keys,
  });
}

/** @throws RpcError NOT_FOUND when there is none. */
export async function findDataset(db: Queryable, id: DatasetKey): Promise<DatasetRow> {
  const { rows } = await db.query<DatasetRow>({
    name: "find-dataset",
    text: `SELECT ${datasetColumns} FROM datasets WHERE project = $1 AND domain = $2 AND name = $3 AND version = $4`,
    values: [id.project, id.domain, id.name, id.version],
  });
  const [row] = rows;
  if (row === undefined) throw missingEntity("Dataset", datasetText(id));
  return row;
}
