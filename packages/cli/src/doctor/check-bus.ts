import { connectBus } from "@flyte-ts/messaging";
import type { Logger } from "@flyte-ts/telemetry";
import { type Finding, ill, reasonOf, well } from "./finding.js";

const WHAT = "message bus";

/** Checks access to the bus, and that JetStream is enabled. Changes nothing there. */
export async function checkBus(url: string, { logger, patienceMs }: { logger: Logger; patienceMs: number }): Promise<readonly Finding[]> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`no answer within ${patienceMs / 1_000} s`)), patienceMs).unref();
  });
  try {
    const bus = await Promise.race([connectBus({ url, name: "doctor", logger }), late]);
    try {
      // Deletes a nonexistent consumer: a reply proves that JetStream is enabled.
      await Promise.race([bus.removeConsumer("FLYTE_TS_DOCTOR", "nobody"), late]);
      return [well(WHAT, "takes connections, and JetStream is on")];
    } finally {
      await bus.close();
    }
  } catch (error) {
    return [
      ill(WHAT, reasonOf(error), "are address, user and password right, and does the server run with JetStream (-js, or `jetstream {}`)?"),
    ];
  }
}
