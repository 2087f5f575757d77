import { useState } from "react";
import { curlCommand } from "../../command/curl.js";
import { flytectlCommand } from "../../command/flytectl.js";
import { flyteTsCommand } from "../../command/flyte-ts.js";
import { highlight } from "../../command/highlight.js";
import type { LaunchFacts } from "../../command/launch-facts.js";
import { pyflyteCommand } from "../../command/pyflyte.js";
import { pythonProgram } from "../../command/python.js";
import { requestJson } from "../../command/request-json.js";
import { classes } from "../../control/classes.js";
import { Copy } from "../../control/copy.js";
import type { Difference } from "../../literal/convert/differences.js";
import styles from "./command-pane.module.css";

interface CommandPaneProps {
  readonly facts: LaunchFacts;
  readonly isSignedIn: boolean;
  readonly changed: readonly Difference[];
  /** Execution from which the values differ. */
  readonly from: string;
}

const COMMANDS = {
  pyflyte: pyflyteCommand,
  Python: pythonProgram,
  "flyte-ts": flyteTsCommand,
  flytectl: flytectlCommand,
  curl: curlCommand,
  JSON: ({ request }: LaunchFacts) => requestJson(request),
} as const;
type CommandName = keyof typeof COMMANDS;
const NAMES = Object.keys(COMMANDS) as readonly CommandName[];

/** The same launch for other clients, as one types. */
export function CommandPane({ facts, isSignedIn, changed, from }: CommandPaneProps) {
  const [name, setName] = useState<CommandName>("pyflyte");
  const command = COMMANDS[name](facts, isSignedIn);
  const shown = name === "JSON" || changed.length === 0 ? command : `${command.trimEnd()}\n\n${comments(changed, from)}`;
  return (
    <>
      <div className={styles.bar}>
        <div className={styles.tabs} role="tablist" aria-label="Client">
          {NAMES.map((each) => (
            <button
              key={each}
              type="button"
              role="tab"
              id={`client-${each}`}
              aria-selected={each === name}
              aria-controls="client-command"
              className={classes(styles.tab, each === name && styles.current)}
              onClick={() => setName(each)}
            >
              {each}
            </button>
          ))}
        </div>
        <Copy text={command} label={`the launch for ${name}`} />
      </div>
      <pre id="client-command" role="tabpanel" aria-labelledby={`client-${name}`} className={styles.code} tabIndex={0}>
        {highlight(shown).map(({ kind, text }, index) =>
          kind === "plain" ? (
            text
          ) : (
            <span key={index} className={styles[kind]}>
              {text}
            </span>
          ),
        )}
      </pre>
    </>
  );
}

/** Lists what differs from the execution, as comments below the command. */
function comments(changed: readonly Difference[], from: string): string {
  const width = Math.max(...changed.map(({ path }) => path.length));
  const lines = changed.map(({ path, before, after }) =>
    before === undefined || after === undefined ? `# ${path}` : `# ${path.padEnd(width)}  ${before} → ${after}`,
  );
  return [`# ${changed.length} ${changed.length === 1 ? "value differs" : "values differ"} from execution ${from}`, ...lines].join("\n");
}
