import type { DataCatalog } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import { checkDatasetId, datasetText } from "../dataset/identifier.js";
import { findDataset } from "../dataset/store.js";
import type { DatacatalogDeps } from "../deps.js";
import { alreadyExists, requireNonEmpty, missingArgument } from "../rpc-errors.js";
import { findArtifact } from "./store.js";

/** A tag is set once: the first of concurrent requests wins. */
export function tagRpcs({ db }: Pick<DatacatalogDeps, "db">): Pick<ServiceImplementation<typeof DataCatalog>, "addTag"> {
  return {
    async addTag({ tag }) {
      if (tag === undefined) throw missingArgument("tag");
      const { dataset, name, artifactId } = tag;
      checkDatasetId(dataset);
      requireNonEmpty(name, "tagName");
      requireNonEmpty(artifactId, "artifactID");
      const { id: datasetId } = await findDataset(db, dataset);
      const { id } = await findArtifact(db, { by: "id", dataset, artifactId });
      const { rowCount } = await db.query({
        name: "add-tag",
        text: "INSERT INTO tags (dataset_id, name, artifact) VALUES ($1, $2, $3) ON CONFLICT (dataset_id, name) DO NOTHING",
        values: [datasetId, name, id],
      });
      if (rowCount === 0) throw alreadyExists(`tag ${name} of dataset ${datasetText(dataset)}`);
      return {};
    },
  };
}
