import { describe, expect, test } from "vitest";
import { ATTACKS } from "./attacks.js";
import { stringLiteral } from "./literals.js";
import { type EndedRun, type Mode, MODES, type WarmNode } from "./warm-node.fixture.js";

const TIMEOUT_MS = 300_000;

/** An attempt attacks the next one of its kind, which takes the only idle pod. */
export function isolationCases(onNode: () => WarmNode): void {
  const started = new Set<Mode>();
  const run = (mode: Mode, attack: string, look: string): Promise<EndedRun> =>
    onNode().run(`isolation.${mode}`, { attack: stringLiteral(attack), look: stringLiteral(look) });
  const observed = ({ output }: EndedRun) => JSON.parse(typeof output === "string" ? output : "{}") as { pod?: string; seen?: string };

  /** The pod that the next attempt takes; the first of its kind starts in a pod of its own. */
  const onlyIdlePod = async (node: WarmNode, mode: Mode, expected?: string) => {
    if (!started.has(mode)) await run(mode, "pass", "1");
    started.add(mode);
    return node.onlyIdlePod(mode, expected);
  };

  describe.each(MODES)("%s pods", (mode) => {
    const attacks = ATTACKS.filter(({ isForReused = false }) => mode === "reused" || !isForReused);
    test.each(attacks)(
      "keep from the next attempt: $name",
      { timeout: TIMEOUT_MS },
      async ({ attack, look, seen, error = "", reused = "serves" }) => {
        const node = onNode();
        const taken = await onlyIdlePod(node, mode);
        const first = await run(mode, attack, "1");
        expect([first.phase, error === "*" || first.code.includes(error)]).toEqual([error === "" ? "SUCCEEDED" : "FAILED", true]);
        expect([taken, undefined]).toContain(observed(first).pod);
        const next = await onlyIdlePod(node, mode, taken);
        const second = await run(mode, "pass", look);
        const { pod, seen: found } = observed(second);
        expect([second.phase, pod, found]).toEqual(["SUCCEEDED", next, seen]);
        const fates = { serves: [true], retires: [false], either: [true, false] } as const;
        expect(fates[mode === "reused" ? reused : "retires"]).toContain(pod === taken);
      },
    );
  });
}
