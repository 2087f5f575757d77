import type { Import, Place } from "./run.js";
export async function importExecutions(_work: Import, _place: Place): Promise<void> {}
