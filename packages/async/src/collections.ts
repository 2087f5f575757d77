// Collections without clock, timers or I/O: code of pure decisions may import them.
export { BinaryHeap } from "./binary-heap.js";
export { BoundedMap, BoundedSet } from "./bounded-map.js";
export { DelayQueue } from "./delay-queue.js";
export { FairQueue } from "./fair-queue.js";
export { LruCache } from "./lru-cache.js";
export { SlotTable } from "./slot-table.js";
