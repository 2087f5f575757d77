export { DelayQueue } from "./delay-queue.js";
export { BinaryHeap } from "./binary-heap.js";
