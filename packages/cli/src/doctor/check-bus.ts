import { connectBus } from "@flyte-ts/messaging";
import type { Logger } from "@flyte-ts/telemetry";
import { type Finding, failed, rootCauseMessage, passed } from "./finding.js";

const SUBJECT = "message bus";

/** Checks access to the bus, and that JetStream is enabled. Changes nothing there. */
export async function checkBus(url: string, { logger, timeoutMs }: { logger: Logger; timeoutMs: number }): Promise<readonly Finding[]> {
  const timedOut = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`no answer within ${timeoutMs / 1_000} s`)), timeoutMs).unref();
  });
  try {
    const bus = await Promise.race([connectBus({ url, name: "doctor", logger }), timedOut]);
    try {
      // Deletes a nonexistent consumer: a reply proves that JetStream is enabled.
      await Promise.race([bus.removeConsumer("FLYTE_TS_DOCTOR", "nobody"), timedOut]);
      return [passed(SUBJECT, "accepts connections, and JetStream is enabled")];
    } finally {
      await bus.close();
    }
  } catch (error) {
    return [
      failed(
        SUBJECT,
        rootCauseMessage(error),
        "check address, user and password, and that the server runs with JetStream (-js, or `jetstream {}`)?",
      ),
    ];
  }
}
