export { createEntry, type TaskEntry, type TaskModule } from "./task/entry.js";
