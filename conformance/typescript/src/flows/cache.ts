import { t, task, workflow } from "@flyte-ts/sdk";
import { double, halve } from "../arithmetic.ts";

// Two cached tasks of one file, each with a helper of its own.
export const doubled = task({ inputs: { x: t.float }, outputs: t.float, cache: true }, ({ x }) => double(x));
export const halved = task({ inputs: { x: t.float }, outputs: t.float, cache: true }, ({ x }) => halve(x));

export const both = workflow({ inputs: { x: t.float }, outputs: { doubled: t.float, halved: t.float } }, ({ x }) => ({
  doubled: doubled({ x }, { name: "doubled" }),
  halved: halved({ x }, { name: "halved" }),
}));
