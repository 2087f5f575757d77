import type { Pod } from "@flyte-ts/pod-task";
import { parseAttemptEnd, WARM_KEY_LABEL, WARM_PRELOAD_ANNOTATION } from "@flyte-ts/pod-task/warm";
import { describe, expect, it } from "vitest";
import { mark } from "../../simulation/simulated-supervisors.js";
import { Preloads } from "./preloads.js";

const pod = (kind: string, annotation?: string): Pod => ({
  metadata: {
    name: "warm-1",
    namespace: "p-d",
    labels: { [WARM_KEY_LABEL]: kind },
    annotations: annotation === undefined ? {} : { [WARM_PRELOAD_ANNOTATION]: annotation },
  },
  spec: { containers: [] },
});
const learned = (...ends: object[]) => {
  const preloads = new Preloads();
  for (const told of ends) preloads.learn("a", parseAttemptEnd(mark("1", told)) ?? { imports: [], refused: [] });
  return preloads;
};
const shown = (preloads: Preloads, kind = "a") => JSON.parse(preloads.annotationOf(kind) ?? "null") as unknown;

describe("the modules that pods of a kind load ahead", () => {
  it("are those that its attempts imported, without those that cannot be loaded ahead", () => {
    const preloads = learned({ imports: ["sklearn", "sklearn.datasets"] }, { imports: ["numpy"], refused: ["sklearn.datasets"] }, {});
    expect(shown(preloads)).toEqual({ load: ["sklearn", "numpy"], refuse: ["sklearn.datasets"] });
    preloads.learn("a", { imports: ["sklearn.datasets"], refused: [] });
    expect(shown(preloads)).toEqual({ load: ["sklearn", "numpy"], refuse: ["sklearn.datasets"] });
    expect(shown(preloads, "b")).toBeNull();
  });

  it("are none from an end whose list is no list of names, or longer than any supervisor tells", () => {
    const many = Array.from({ length: 33 }, (_, i) => `m${i}`);
    for (const imports of [["a b"], ["../x"], ["a.b", "x;y"], ["a".repeat(101)], [5], "text", {}, many])
      expect(shown(learned({ imports, refused: imports })), JSON.stringify(imports)).toBeNull();
  });

  it("are 32 at most", () => {
    const names = (from: number) => Array.from({ length: 20 }, (_, i) => `m${from + i}`);
    const { load, refuse } = shown(
      learned({ imports: names(0) }, { imports: names(20) }, { refused: names(40) }, { refused: names(60) }),
    ) as {
      load: string[];
      refuse: string[];
    };
    expect([load.length, load.at(-1), refuse.length]).toEqual([32, "m31", 32]);
  });

  it("are found in idle pods of an earlier process, unless another one wrote them", () => {
    const preloads = new Preloads();
    preloads.inherit(pod("a", '{"load":["numpy"],"refuse":["torch"]}'));
    for (const text of ["", "[]", '{"load":["a b"],"refuse":[]}']) preloads.inherit(pod("b", text));
    preloads.inherit(pod("b"));
    expect([shown(preloads), shown(preloads, "b")]).toEqual([{ load: ["numpy"], refuse: ["torch"] }, null]);
  });
});
