// Statuses too large for the resource
export { assembleSlices } from "./slice/assemble.js";
export { decodeSlice, encodeSlice, type LoadedSlice, MAX_SLICE_BYTES, type SliceEntry, sliceNotFound } from "./slice/codec.js";
export { type SliceReference, sliceUri } from "./slice/references.js";
