import { Code, createFlyteClient, RpcError } from "@flyte-ts/client";
import { clockFinding, type Finding, ill, reasonOf, well } from "./finding.js";

const WHAT = "admin";

/** Checks whether admin answers, its version, and its clock. */
export async function checkAdmin(endpoint: string, patienceMs: number): Promise<readonly Finding[]> {
  const client = createFlyteClient({ endpoint, deadlineMs: patienceMs });
  try {
    const answer = await client.admin.getVersion({});
    const { version, build } = { version: answer.controlPlaneVersion?.Version, build: answer.controlPlaneVersion?.Build };
    const found = well(WHAT, `${endpoint} answers: Flyte ${version || "unknown"}${build && build !== "unknown" ? `, ${build}` : ""}`);
    return [found, ...(await clock(endpoint, patienceMs))];
  } catch (error) {
    if (error instanceof RpcError && error.code === Code.UNAUTHENTICATED) return [well(WHAT, `${endpoint} answers, and asks who you are`)];
    return [
      ill(
        WHAT,
        `${endpoint}: ${reasonOf(error)}`,
        "is it the address of its gRPC port, are its replicas ready (/readyz at port 10254), does what stands before it let HTTP/2 through?",
      ),
    ];
  } finally {
    client.close();
  }
}

/** HTTP dates have whole seconds. */
async function clock(endpoint: string, patienceMs: number): Promise<readonly Finding[]> {
  const address = endpoint.includes("://") ? endpoint : `http://${endpoint}`;
  try {
    const before = Date.now();
    const answer = await fetch(`${address}/api/v1/version`, { signal: AbortSignal.timeout(patienceMs) });
    const after = Date.now();
    const date = Date.parse(answer.headers.get("date") ?? "");
    if (Number.isNaN(date)) return [];
    return [clockFinding(WHAT, date + 500 - (before + after) / 2, 500 + (after - before) / 2)];
  } catch {
    // The port serves only gRPC.
    return [];
  }
}
