import { performance } from "node:perf_hooks";
import { expect, test } from "vitest";
import { type Attacker, openAttacker } from "../attacker.fixture.js";
import { HEADER_BOMBS, JSON_BOMBS, MESSAGE_BOMBS, QUERY_BOMBS } from "./bombs.fixture.js";
import { startVictim } from "../victim.fixture.js";

// `ATTACK=full` measures how long other callers wait while bombs are refused. The short form does
// not measure time.
const FULL = process.env.ATTACK === "full";
/** Number of concurrent bombs, and number of measured calls of the neighbour. */
const CONCURRENCY = 100;
const CALLS = 500;
/** Number of rounds, of which the best counts: a busy machine slows single rounds. */
const ROUNDS = 5;

test.runIf(FULL)(
  "calls take at most twice as long while a hundred concurrent bombs are refused",
  async () => {
    const victim = await startVictim();
    const attackers: Attacker[] = [];
    try {
      const neighbour = openAttacker(victim.admin.api);
      attackers.push(neighbour);
      const headers = { authorization: `Bearer ${victim.tokenOf("root")}` };
      const p99 = async (): Promise<number> => {
        const times: number[] = [];
        for (let call = 0; call < CALLS; call++) {
          const start = performance.now();
          expect(await neighbour.grpc({ path: "/flyteidl.service.AdminService/ListProjects", headers })).toBe("OK");
          times.push(performance.now() - start);
        }
        return times.sort((a, b) => a - b)[Math.floor(CALLS * 0.99)] ?? 0;
      };
      await p99();
      const viewer = { authorization: `Bearer ${victim.tokenOf("viewer")}` };
      const bombs = [
        ...Object.values(MESSAGE_BOMBS).map(
          (bomb) => (attacker: Attacker, caller: Record<string, string>) =>
            attacker.grpc({ path: "/flyteidl.service.AdminService/CreateWorkflow", ...bomb, headers: caller }),
        ),
        ...Object.values(JSON_BOMBS).map(
          (body) => (attacker: Attacker, caller: Record<string, string>) =>
            attacker.http({ method: "POST", path: "/api/v1/executions", body, headers: { "content-type": "application/json", ...caller } }),
        ),
        ...Object.values(QUERY_BOMBS).map(
          (query) => (attacker: Attacker, caller: Record<string, string>) =>
            attacker.http({ method: "GET", path: `/api/v1/projects?${query}`, headers: caller }),
        ),
        ...Object.values(HEADER_BOMBS).map(
          (more) => (attacker: Attacker) => attacker.http({ method: "GET", path: "/api/v1/projects", headers: more }),
        ),
      ];
      let least = Number.POSITIVE_INFINITY;
      for (let round = 0; round < ROUNDS && least > 2; round++) {
        const quiet = await p99();
        // Send 100 bombs concurrently; the server refuses them while the neighbour calls.
        const burst = Array.from({ length: CONCURRENCY }, async (_, index) => {
          const attacker = openAttacker(victim.admin.api);
          attackers.push(attacker);
          await bombs[index % bombs.length]?.(attacker, index % 2 === 0 ? {} : viewer);
          attacker.close();
        });
        const [beside] = await Promise.all([p99(), ...burst]);
        least = Math.min(least, beside / quiet);
      }
      expect(least).toBeLessThanOrEqual(2);
    } finally {
      for (const attacker of attackers) attacker.close();
      await victim.stop();
    }
  },
  300_000,
);
