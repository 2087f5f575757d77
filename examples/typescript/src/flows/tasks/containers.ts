import { connectorTask, container, t, workflow } from "@flyte-ts/sdk";

/** Runs a program of any image; its outputs are files in /var/outputs. */
export const shout = container({
  image: "alpine:3.22",
  command: ["sh", "-c", "echo '{{.inputs.text}}' | tr a-z A-Z > /var/outputs/loud"],
  inputs: { text: t.string },
  outputs: { loud: t.string },
});

export const containers = workflow({ inputs: { text: t.string }, outputs: t.string }, ({ text }) => shout({ text }).loud);

/** A task that a connector executes. */
export const query = connectorTask({ type: "bigquery_query_job_task", config: { Location: "EU" }, outputs: { results: t.dataset() } });
