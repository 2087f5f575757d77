export { type PlatformConfig, platformSettings } from "./config.js";
export type { PlatformDeps } from "./deps.js";
export { errorPattern } from "./error-pattern.js";
export {
  checkIdentifier,
  checkName,
  checkNamedEntity,
  checkReadIdentifier,
  checkText,
  identifierText,
  resourceTypeName,
} from "./identifiers.js";
export { checkLimit, type KeysetPage, nextPageToken, parseKeysetPage } from "./keyset-page.js";
export { checkLabels } from "./labels.js";
export type { ColumnType } from "./list-query/column-type.js";
export type { Condition } from "./list-query/condition.js";
export { baseColumns, type Column, type ListEntity, versionedColumns } from "./list-query/entity.js";
export {
  type ListPlan,
  type ListRequest,
  orderOf,
  planList,
  type ResolvedFilter,
  resolveFilters,
  selectPage,
  selectPagePrepared,
} from "./list-query/plan.js";
export { planWithPrefetch } from "./list-query/prefetch-filters.js";
export { resourceListRequest } from "./list-query/resource-list.js";
export { nextToken } from "./list-query/token.js";
export { missingEntity } from "./missing-entity.js";
export { namespaceOf } from "./namespace.js";
export { digestOf } from "./protobuf/digest.js";
export { MessageWriter } from "./protobuf/message-writer.js";
export { structureDifference } from "./protobuf/structure-difference.js";
export { truncateField } from "./protobuf/truncate-field.js";
export { withoutField } from "./protobuf/without-field.js";
export { rejectNul } from "./reject-nul.js";
export { alreadyExists, invalidArgument, missingArgument, notFound } from "./rpc-errors.js";
export { truncateReason } from "./sanitize-text.js";
export { type ClaimedRow, pruneFinished, type QueueTable, requeue } from "./work-queue/lease.js";
export { registerQueueGauges } from "./work-queue/queue-metrics.js";
export { type QueueHandler, type Slot, startWorker } from "./work-queue/worker.js";
