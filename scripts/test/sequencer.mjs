// Starts the slowest test files first, so that the last files of a run are short and all workers
// end at about the same time. Files that share a process come after the others: a worker keeps its
// process only while the next file shares it too.
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { BaseSequencer } from "vitest/node";

/**
 * Seconds that the slow files take on two cores; `npm test -- --update-durations` rewrites the
 * file.
 */
const DURATIONS_FILE = join(import.meta.dirname, "durations.json");

/**
 * Duration from which a file that shares its process starts among the others, s. A process of its
 * own costs it some seconds for its modules.
 */
const LONG_SHARED_S = 15;

export default class SlowestFirst extends BaseSequencer {
  async sort(files) {
    const durations = JSON.parse(readFileSync(DURATIONS_FILE, "utf8"));
    const durationOf = ({ moduleId }) => durations[relative(this.ctx.config.root, moduleId)] ?? 0;
    const isLast = (file) => file.project.config.isolate === false && durationOf(file) < LONG_SHARED_S;
    const sorted = sortSlowestFirst(await super.sort(files), durationOf);
    return [...sorted.filter((file) => !isLast(file)), ...sorted.filter(isLast)];
  }
}

/** Sorts by descending duration; files of equal duration keep their order. */
export function sortSlowestFirst(files, durationOf) {
  return files.toSorted((a, b) => durationOf(b) - durationOf(a));
}
