export { identifierKey, parseIdentifierKey, executionKey, workflowIdText } from "./key.js";
export { flyteUrl, parseFlyteUrl, type FlyteUrl, type FlyteUrlKind } from "./flyte-url.js";
export { deterministicUuid } from "./uuid-of.js";
