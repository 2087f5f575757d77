import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly userAgent?: string;
}

/** The requests that an API server has received. */
export interface AuditLog {
  /** Flags with which kube-apiserver writes the log. */
  readonly apiArgs: readonly string[];
  /** Number of requests of a client so far, by verb; a watch counts when it starts. */
  callsOf(userAgent: string): ReadonlyMap<string, number>;
  remove(): void;
}

export function createAuditLog(): AuditLog {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-audit-"));
  const [policy, log] = [join(folder, "policy.yaml"), join(folder, "audit.log")];
  const rules = [{ level: "Metadata" }];
  writeFileSync(policy, JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", omitStages: ["RequestReceived"], rules }));
  writeFileSync(log, "");
  return {
    apiArgs: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`],
    callsOf: (userAgent) => {
      const calls = new Map<string, number>();
      for (const line of readFileSync(log, "utf8").split("\n").slice(0, -1)) {
        const event = JSON.parse(line) as AuditEvent;
        const counted = event.verb === "watch" ? "ResponseStarted" : "ResponseComplete";
        if (event.userAgent === userAgent && event.stage === counted) calls.set(event.verb, (calls.get(event.verb) ?? 0) + 1);
      }
      return calls;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
