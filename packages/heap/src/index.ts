export { DueQueue } from "./due-queue.js";
export { Heap } from "./heap.js";
