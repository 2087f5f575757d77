export { type Limits, type Measured, PROTOBUF_MAX_DEPTH, type Violation, violationText } from "./limits.js";
export {
  checkStored,
  decodeStored,
  MAX_STORED_BYTES,
  readStored,
  type StoredBytes,
  type StoredMessage,
  StoredMessageRefused,
} from "./decode-stored.js";
export { measureMessage, scanMessage } from "./scan-message.js";
export { measureJson, scanJson } from "./scan-json.js";
export { type Compression, inflateBounded, inflatedBound, InflateError } from "./inflate.js";
export { Budget, memoryShare, Reservation } from "./budget.js";
