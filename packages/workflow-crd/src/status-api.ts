export {
  SLICE_VERSION,
  STATUS_VERSION,
  type ArrayNodeStatus,
  type CompactArrayJson,
  type ExecutionErrorJson,
  type GoErrorJson,
  type NodeStatus,
  type SliceRoot,
  type TaskNodeStatus,
  type WorkflowStatus,
} from "./model/status.js";
export { assembleSlices } from "./slice/assemble.js";
export { decodeSlice, encodeSlice, sliceNotFound, type LoadedSlice, MAX_SLICE_BYTES, type SliceEntry } from "./slice/codec.js";
export { sliceUri, type SliceReference } from "./slice/references.js";
