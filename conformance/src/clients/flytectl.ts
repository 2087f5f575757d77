import { findFlytectl } from "@flyte-ts/test-servers";

/**
 * Finds unmodified flytectl, or returns the reason why there is none and prints it. The first call
 * on a machine builds it, which takes minutes.
 */
export async function findUnmodifiedFlytectl(): Promise<{ readonly program: string; readonly missing?: string }> {
  try {
    return { program: await findFlytectl((what) => process.stderr.write(`building ${what} (once, takes a few minutes) …\n`)) };
  } catch (error) {
    const missing = (error as Error).message.replaceAll("\n", "; ");
    process.stderr.write(`skipped, no flytectl: ${missing}\n`);
    return { program: "", missing };
  }
}
