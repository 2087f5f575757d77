// For tests of plugins that run pods
export { MemoryStore } from "./harness/memory-store.js";
