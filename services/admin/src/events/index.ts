export { type EventsConfig, eventsSettings } from "./config.js";
export type { EventsDeps } from "./deps.js";
export { historyRpcs } from "./import/rpc.js";
export { startIngest } from "./ingest/start.js";
export { completeAttempts } from "./resource-completion/complete-attempts.js";
export { completeNodes, nodesInResource, type ResourceDeps } from "./resource-completion/complete-nodes.js";
export { nodeStatusesOf } from "./resource-completion/node-statuses.js";
export { eventRpcs } from "./rpc/rpc.js";
