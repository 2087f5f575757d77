export { isCastable } from "./castable.js";
export { MAX_NESTING, exceedsDepth } from "./nesting.js";
export { compareText } from "./order.js";
export { protoText } from "./proto-text.js";
export { isNoneType, simpleType } from "./simple.js";
export { typeToText } from "./text.js";
