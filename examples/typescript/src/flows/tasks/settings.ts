import { currentContext, t, task, workflow } from "@flyte-ts/sdk";

/** Reads the context that was not handed to it. */
const whereabouts = (): string => currentContext().task.name;

export const configured = task(
  {
    outputs: { name: t.string, colour: t.string },
    description: "Shows the settings of a task.",
    retries: 1,
    timeout: "5m",
    interruptible: false,
    resources: { request: { cpu: "100m", memory: "100Mi" }, limit: { cpu: 1, memory: "500Mi" }, sharedMemory: "16Mi" },
    env: { COLOUR: "blue" },
    deck: true,
  },
  (_inputs, ctx) => {
    ctx.deck("colours").html("<b>blue</b>");
    return { name: whereabouts(), colour: process.env["COLOUR"] ?? "blue" };
  },
);

/** A pod with labels, and a further setting of its main container. */
export const labelled = task(
  {
    outputs: t.string,
    podTemplate: { labels: { team: "wine" }, spec: { containers: [{ name: "primary", env: [{ name: "FROM_TEMPLATE", value: "yes" }] }] } },
  },
  () => "labelled",
);

export const settings = workflow({ outputs: { colour: t.string, labelled: t.string } }, () => ({
  colour: configured().colour,
  labelled: labelled(),
}));
