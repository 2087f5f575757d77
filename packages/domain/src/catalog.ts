export { cacheKeyOf, keyForExecution, type CacheKey } from "./catalog/cached-call.js";
export { hashInputs } from "./catalog/literal-hash.js";
export { objectHash } from "./catalog/object-hash.js";
