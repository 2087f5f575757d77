import type { ExecutionName } from "@flyte-ts/sdk/api";
import { escapeHtml } from "../context/markdown.js";

/** Child that has begun. */
export interface ChildStart extends ExecutionName {
  /** Name of the entity that it runs. */
  readonly entity: string;
  /** False when an earlier attempt of the eager task has started it. */
  readonly isNew: boolean;
}

interface ChildRecord extends ChildStart {
  phase: string;
  milliseconds: number | undefined;
}

/** Children of an eager task in the order of their starts, for its deck. */
export class ChildRecords {
  readonly #records: ChildRecord[] = [];

  /** Records a child. Returns the function that records its end. */
  begin(child: ChildStart): (phase: string) => void {
    const startedAt = performance.now();
    const record: ChildRecord = { ...child, phase: "RUNNING", milliseconds: undefined };
    this.#records.push(record);
    return (phase) => {
      record.phase = phase;
      record.milliseconds = performance.now() - startedAt;
    };
  }

  /** Formats the children as a table, with links to their pages; undefined without children. */
  html(consoleUrl: string): string | undefined {
    if (this.#records.length === 0) return undefined;
    const rows = this.#records.map(
      (record) =>
        `<tr>${cellsOf(record, consoleUrl)
          .map((cell) => `<td>${cell}</td>`)
          .join("")}</tr>`,
    );
    const titles = ["Execution", "Entity", "Phase", "Duration", "Started by"].map((title) => `<th>${title}</th>`).join("");
    return `<table>\n<tr>${titles}</tr>\n${rows.join("\n")}\n</table>`;
  }
}

function cellsOf({ project, domain, name, entity, phase, milliseconds, isNew }: ChildRecord, consoleUrl: string): string[] {
  const path = ["projects", project, "domains", domain, "executions", name].map(encodeURIComponent).join("/");
  const duration = milliseconds === undefined ? "" : `${(milliseconds / 1000).toFixed(1)} s`;
  const link = `<a href="${escapeHtml(`${consoleUrl}/${path}`)}">${escapeHtml(name)}</a>`;
  return [link, escapeHtml(entity), escapeHtml(phase), duration, isNew ? "this attempt" : "an earlier attempt"];
}
