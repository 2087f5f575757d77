import { repairOnce, type RepairDeps } from "./repair.js";
import type { Running } from "./start.js";

/** An execution is compared with its resource when nothing was heard of it for so long, and then as often. */
const QUIET_MS = 60_000;
const EVERY_MS = 15_000;
const BATCH = 200;

/** Compares rows with resources again and again until it is closed. Any number of replicas share the work. */
export function startRepair(deps: RepairDeps): Running {
  let stopped = false;
  let stop: () => void = () => undefined;
  const stopping = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const round = async () => {
    try {
      while (!stopped && (await repairOnce(deps, { quietMs: QUIET_MS, limit: BATCH })) === BATCH);
    } catch (error) {
      deps.logger.warn({ error: String(error) }, "executions cannot be compared with their resources now");
    }
  };
  const run = async () => {
    while (!stopped) {
      await round();
      let timer: NodeJS.Timeout | undefined;
      const pause = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, EVERY_MS);
      });
      await Promise.race([pause, stopping]);
      clearTimeout(timer);
    }
  };
  const running = run();
  return {
    close: async () => {
      stopped = true;
      stop();
      await running;
    },
  };
}
