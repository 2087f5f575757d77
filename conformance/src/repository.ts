import { resolve } from "node:path";

/** Root folder of the repository. */
export const root = resolve(import.meta.dirname, "..", "..");
