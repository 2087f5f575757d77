export { cacheKeyOf, type CacheKey } from "./cached-call.js";
export { hashInputs } from "./literal-hash.js";
export { objectHash } from "./object-hash.js";
