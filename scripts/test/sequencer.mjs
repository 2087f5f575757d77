// Starts the slowest test files first, so that the last files of a run are short and all workers
// end at about the same time.
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { BaseSequencer } from "vitest/node";

/**
 * Seconds that the slow files take on two cores; `npm test -- --update-durations` rewrites the
 * file.
 */
const DURATIONS_FILE = join(import.meta.dirname, "durations.json");

export default class SlowestFirst extends BaseSequencer {
  async sort(files) {
    const durations = JSON.parse(readFileSync(DURATIONS_FILE, "utf8"));
    const durationOf = ({ moduleId }) => durations[relative(this.ctx.config.root, moduleId)] ?? 0;
    return sortSlowestFirst(await super.sort(files), durationOf);
  }
}

/** Sorts by descending duration; files of equal duration keep their order. */
export function sortSlowestFirst(files, durationOf) {
  return files.toSorted((a, b) => durationOf(b) - durationOf(a));
}
