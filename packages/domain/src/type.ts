export { isCastable } from "./type/castable.js";
export { MAX_NESTING, exceedsDepth } from "./type/nesting.js";
export { compareText } from "./type/order.js";
export { protoText } from "./type/proto-text.js";
export { isNoneType, simpleType } from "./type/simple.js";
export { typeToText } from "./type/text.js";
