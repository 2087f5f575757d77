export { decodeMessage } from "./decode.js";
export { messageFactory } from "./empty.js";
export { encodeMessage } from "./encode.js";
