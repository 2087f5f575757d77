import { Code, createFlyteClient, RpcError } from "@flyte-ts/client";
import { connectionFailure } from "../describe-error.js";
import { clockFinding, type Finding, failed, rootCauseMessage, passed } from "./finding.js";

const SUBJECT = "admin";

/** Checks whether admin answers, its version, and its clock. */
export async function checkAdmin(endpoint: string, timeoutMs: number): Promise<readonly Finding[]> {
  const client = createFlyteClient({ endpoint, deadlineMs: timeoutMs });
  try {
    const response = await client.admin.getVersion({});
    const { version, build } = { version: response.controlPlaneVersion?.Version, build: response.controlPlaneVersion?.Build };
    const found = passed(SUBJECT, `${endpoint} answers: Flyte ${version || "unknown"}${build && build !== "unknown" ? `, ${build}` : ""}`);
    return [found, ...(await checkClock(endpoint, timeoutMs))];
  } catch (error) {
    if (error instanceof RpcError && error.code === Code.UNAUTHENTICATED)
      return [passed(SUBJECT, `${endpoint} answers and requires sign-in`)];
    return [
      failed(
        SUBJECT,
        `${endpoint}: ${connectionFailure(rootCauseMessage(error)) ?? rootCauseMessage(error)}`,
        "is it the address of its gRPC port, are its replicas ready (/readyz at port 10254), does what stands before it let HTTP/2 through?",
      ),
    ];
  } finally {
    client.close();
  }
}

/** HTTP dates have whole seconds. */
async function checkClock(endpoint: string, timeoutMs: number): Promise<readonly Finding[]> {
  const address = endpoint.includes("://") ? endpoint : `http://${endpoint}`;
  try {
    const before = Date.now();
    const response = await fetch(`${address}/api/v1/version`, { signal: AbortSignal.timeout(timeoutMs) });
    const after = Date.now();
    const date = Date.parse(response.headers.get("date") ?? "");
    if (Number.isNaN(date)) return [];
    return [clockFinding(SUBJECT, date + 500 - (before + after) / 2, 500 + (after - before) / 2)];
  } catch {
    // The port serves only gRPC.
    return [];
  }
}
