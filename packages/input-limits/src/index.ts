export { type Limits, type Measurement, PROTOBUF_MAX_DEPTH, type Violation, violationText } from "./limits.js";
export {
  checkStored,
  decodeStored,
  MAX_STORED_BYTES,
  readStored,
  type BlobReader,
  type StoredMessage,
  StoredMessageError,
} from "./stored-message.js";
export { measureMessage, scanMessage } from "./scan-message.js";
export { measureJson, scanJson } from "./scan-json.js";
export { type Compression, inflateBounded, maxInflatedBytes, InflateError } from "./inflate.js";
export { MemoryBudget, memoryShare, Reservation } from "./memory-budget.js";
