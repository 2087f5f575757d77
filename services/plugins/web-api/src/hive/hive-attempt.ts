import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { readInputs } from "../task/inputs.js";
import { templateRenderer } from "../task/render.js";
import { type HiveQuery, type HiveQuerySettings, hiveQuery } from "./hive-query.js";
import { type RecordStore, SessionRecord } from "./session-record.js";

/** Parts of an attempt that are needed until its last statement is started. */
export interface HiveAttempt {
  readonly query: HiveQuery;
  readonly record: SessionRecord;
}

/** Reads the query of an attempt. @throws PermanentFailure; BlobUnavailableError */
export async function hiveAttempt(request: TaskRequest, store: RecordStore, settings: HiveQuerySettings): Promise<HiveAttempt> {
  const query = hiveQuery(request, templateRenderer(request, await readInputs(request, store)), settings);
  return { query, record: new SessionRecord(store, request.outputPrefix) };
}
