import type { DataCatalog } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { DatacatalogDeps } from "../deps.js";
import { alreadyExists, invalidArgument, missingArgument } from "../rpc-errors.js";
import { datasetConditions } from "../list/filter.js";
import { nextToken, pageOf, selectPage } from "../list/page.js";
import { checkDatasetId, datasetText } from "./identifier.js";
import { datasetColumns, datasetOf, type DatasetRow, findDataset } from "./store.js";

type Service = ServiceImplementation<typeof DataCatalog>;

export function datasetRpcs({
  db,
  uuid,
}: Pick<DatacatalogDeps, "db" | "uuid">): Pick<Service, "createDataset" | "getDataset" | "listDatasets"> {
  return {
    async createDataset({ dataset }) {
      if (dataset === undefined) throw missingArgument("dataset");
      const { id, metadata, partitionKeys } = dataset;
      checkDatasetId(id);
      checkPartitionKeys(partitionKeys);
      const { rowCount } = await db.query({
        name: "create-dataset",
        text: `INSERT INTO datasets (project, domain, name, version, uuid, metadata, partition_keys) VALUES ($1, $2, $3, $4, $5, $6, $7)
          ON CONFLICT (project, domain, name, version) DO NOTHING`,
        values: [id.project, id.domain, id.name, id.version, uuid(), JSON.stringify(metadata?.keyMap ?? {}), partitionKeys],
      });
      if (rowCount === 0) throw alreadyExists(`dataset ${datasetText(id)}`);
      return {};
    },

    async getDataset({ dataset }) {
      checkDatasetId(dataset);
      return { dataset: datasetOf(await findDataset(db, dataset)) };
    },

    async listDatasets({ filter, pagination }) {
      const page = pageOf(pagination);
      const { rows } = await db.query<DatasetRow>(
        selectPage({ columns: datasetColumns, table: "datasets", conditions: datasetConditions(filter), page }),
      );
      return { datasets: rows.map(datasetOf), nextToken: nextToken(page, rows.length) };
    },
  };
}

function checkPartitionKeys(keys: readonly string[]): void {
  for (const [index, key] of keys.entries()) {
    if (key === "") throw missingArgument(`partitionKeys[${index}]`);
    if (keys.indexOf(key) < index) throw invalidArgument(`invalid value for partitionKey, value:[${key}]: keys must be unique`);
  }
}
