export { identifierKey, parseIdentifierKey, executionKey, workflowIdText } from "./identifier/key.js";
export { flyteUrl, parseFlyteUrl, type FlyteUrl, type FlyteUrlKind } from "./identifier/flyte-url.js";
export { deterministicUuid } from "./identifier/deterministic-uuid.js";
